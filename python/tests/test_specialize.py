"""Functions whose sizes only calls know, after some calls with the same sizes."""

import gc
import subprocess
import sys
import weakref

import alula
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from alula.program import specialize
from alula.program.api import get_info

W = np.random.RandomState(0).standard_normal((64, 64)).astype(np.float32)


def spec(shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(jax.export.symbolic_shape(shape), dtype)


def rows(count, seed=0):
    return np.random.RandomState(seed).standard_normal((count, 64)).astype(np.float32)


def multiply(x):
    return jnp.tanh(x @ W), x.sum()


def compiled(**options):
    return alula.compile(multiply, spec("b, 64"), **options)


def specializer_of(f):
    (traced,) = f._info.traced.values()
    return traced.specializer


def check(f, x):
    for ours, theirs in zip(f(x), multiply(x)):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, atol=1e-4)


@pytest.mark.parametrize("returns", ["jax", "numpy"])
def test_sizes_that_come_again_have_their_own_code(returns):
    f = compiled(returns=returns)
    for count in (5, 5, 7, 7, 7):
        check(f, rows(count))
    assert specialize.wait(2000)
    assert f.specialized == [((7, 64),)]
    check(f, rows(5))
    assert specialize.wait(2000)
    assert sorted(f.specialized) == [((5, 64),), ((7, 64),)]
    copy = specializer_of(f).find([rows(7)])
    assert [value.shape for value in copy.function.results] == [(7, 64), ()]
    for count in (5, 7, 1):
        check(f, rows(count, count))
        check(f, jnp.asarray(rows(count, count)))
        # Converted on the way.
        check(f, np.asfortranarray(rows(count, count)))
    if returns == "jax":
        assert isinstance(f(rows(7))[0], jax.Array)
        assert copy.avals is not None
    assert specializer_of(f).failures == {}


def test_only_whole_calls_count():
    f = compiled(specialize_after=1)
    with pytest.raises(TypeError):
        f(np.zeros((3, 65), np.float32))
    with pytest.raises(TypeError):
        f(np.zeros(3, np.float32))
    assert specialize.wait(2000)
    assert f.specialized == [] and specializer_of(f).failures == {}


def test_never_and_wrong_numbers():
    f = compiled(specialize_after=0)
    for _ in range(5):
        check(f, rows(3))
    assert f.specialized == [] and specializer_of(f) is None
    for wrong in (-1, "3"):
        with pytest.raises(TypeError, match="specialize_after must be a number of calls"):
            compiled(specialize_after=wrong)
    # Of sizes that are known there is nothing to know.
    assert alula.compile(multiply, rows(3)).specialized == []


def test_weights_are_there_once():
    f = compiled(specialize_after=1)
    for count in (3, 4, 5):
        check(f, rows(count))
    assert specialize.wait(2000)
    held = f._info.state.executable._external
    # As the program has them, and as products read them.
    mine = {id(a) for a in held.values() if a.nbytes == W.nbytes}
    assert len(mine) == 2
    for copy in specializer_of(f)._ready.values():
        assert {id(a) for a in copy._weights.values() if a.nbytes == W.nbytes} == mine
        assert copy.bytes < W.nbytes + (1 << 16)


def test_memory_is_bounded():
    f = compiled(specialize_after=1)
    check(f, rows(1))
    assert specialize.wait(2000)
    one = specializer_of(f)
    one.most_bytes = 3 * one.bytes + one.bytes // 2
    gone = weakref.ref(one.find([rows(1)]))
    for count in (2, 3):
        check(f, rows(count))
        assert specialize.wait(2000)
    check(f, rows(2))
    check(f, rows(3))
    check(f, rows(4))
    assert specialize.wait(2000)
    gc.collect()
    # The one that was not called for longest.
    assert gone() is None and ((1, 64),) not in f.specialized
    assert len(f.specialized) == 3 and one.bytes <= one.most_bytes
    check(f, rows(1))
    assert specialize.wait(2000)
    assert ((1, 64),) in f.specialized and ((2, 64),) not in f.specialized
    # What is larger than all may be is not kept.
    one.most_bytes = 100
    check(f, rows(9))
    assert specialize.wait(2000)
    assert f.specialized == []
    check(f, rows(9))


def test_calls_do_not_wait():
    """Sizes that always change, and what is counted of them."""
    f = compiled()
    for count in np.random.RandomState(1).permutation(100) + 1:
        check(f, rows(count))
    assert specialize.wait(2000)
    assert f.specialized == []
    assert len(specializer_of(f)._counts) <= specialize.MOST_COUNTED


def test_a_program_that_stores_is_left_alone():
    class Counter(alula.Program):
        n = jnp.zeros((), jnp.int32)

        def run(self, x=alula.Program.like(spec("b"))):
            self.n = self.n + 1
            return x * self.n

    program = Counter(specialize_after=1)
    for i in range(1, 4):
        assert (program.run(np.ones(2, np.float32)) == i).all()
    assert specialize.wait(2000)
    assert get_info(program).traced["run"].specializer is None


def test_several_procedures():
    class Two(alula.Program):
        def first(self, x=alula.Program.like(spec("b, c"))):
            return x.T

        def second(self, x=alula.Program.like(spec("b")), y=alula.Program.like(np.float32(0))):
            return {"sum": x.sum() * y, "twice": [x * 2]}

    program = Two(specialize_after=1)
    for _ in range(3):
        x = np.arange(6, dtype=np.float32)
        assert (program.first(x.reshape(2, 3)) == x.reshape(2, 3).T).all()
        made = program.second(x, np.float32(3))
        assert made["sum"] == 45 and (made["twice"][0] == 2 * x).all()
        assert specialize.wait(2000)
    traced = get_info(program).traced
    assert traced["first"].specializer.copies == [((2, 3),)]
    assert traced["second"].specializer.copies == [((6,), ())]


def test_a_copy_that_fails_is_told(monkeypatch):
    f = compiled(specialize_after=1)
    check(f, rows(2))
    assert specialize.wait(2000)
    monkeypatch.setattr(specializer_of(f), "_text", "no program")
    check(f, rows(3))
    assert specialize.wait(2000)
    (why,) = specializer_of(f).failures.values()
    assert why
    check(f, rows(3))
    assert f.specialized == [((2, 64),)]


def test_the_process_ends_while_a_copy_is_compiled():
    program = """
import numpy as np, jax, jax.numpy as jnp, alula
x = jax.ShapeDtypeStruct(jax.export.symbolic_shape("b, 64"), jnp.float32)
def f(x):
    for _ in range(60):
        x = jnp.tanh(x @ x.T @ x) + jnp.sin(x).sum(1, keepdims=True)
    return x
f = alula.compile(f, x, specialize_after=1)
print(f(np.zeros((3, 64), np.float32)).shape)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "(3, 64)\n"), done.stderr
