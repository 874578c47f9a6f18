"""Signatures, options by name, errors of traces, futures."""

import asyncio
import concurrent.futures
import inspect
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import alula
from alula import Program, errors


def scale(values, by):
    """Scales."""
    return values * by


# ---- Signatures ----


def test_signatures(tmp_path):
    made = alula.compile(scale, jnp.ones(3), jnp.ones(()))
    loaded = alula.load(made.save(tmp_path / "scale.alula"))
    for function in (made, loaded.scale):
        assert str(inspect.signature(function)) == "(values, by)"
        assert function.__doc__ == "Scales." and function.__name__ == "scale"
        bound = inspect.signature(function).bind(np.ones(3), by=2.0)
        assert (np.asarray(function(*bound.args, **bound.kwargs)) == 2).all()

    class Model(Program):
        def run(self, x=Program.like(jnp.ones(2)), factor=Program.static(3)):
            """Runs."""
            return x * factor

    model = Model()
    assert str(inspect.signature(model.run)) == "(x, factor=3)"
    assert "(x, factor=3)" in str(inspect.signature(model.run))
    artifact = Program.get_compiled_artifact(model).load()
    assert str(inspect.signature(artifact.run)) == "(x)" and artifact.run.__doc__ == "Runs."
    static = alula.compile(lambda n, x: x * n, 2, jnp.ones(2), static_argnums=0, name="f")
    assert str(inspect.signature(static)) == "(n=2, *, x)"


def test_names_that_python_can_not_have():
    from alula.loaded import _make_signature

    assert str(_make_signature(["a.b", "c"])) == "(argument0, argument1, /)"
    assert str(_make_signature(["lambda"])) == "(argument0, /)"


# ---- Options ----


class Empty(Program):
    def run(self):
        return jnp.ones(2)


@pytest.mark.parametrize(
    "call, text",
    [
        (
            lambda: alula.compile(scale, jnp.ones(2), 1.0, target=["cpu:host"]),
            r"compile\(\) got an unexpected argument 'target'; did you mean 'targets'\?",
        ),
        (
            lambda: alula.compile(scale, jnp.ones(2), 1.0, static_argnum=1),
            r"compile\(\) got .* 'static_argnum'; did you mean 'static_argnums'\?",
        ),
        (
            lambda: alula.export(scale, jnp.ones(2), 1.0, weigths="w.safetensors"),
            r"export\(\) got an unexpected argument 'weigths'; did you mean 'weights'\?",
        ),
        (
            lambda: alula.export_functions({}, dump_dir="d"),
            r"export_functions\(\) got .* 'dump_dir'; did you mean 'dump_directory'\?",
        ),
        (
            lambda: Program.get_compiled_artifact(Empty, untill="input"),
            r"get_compiled_artifact\(\) got .* 'untill'; did you mean 'until'\?",
        ),
        (lambda: Empty(return_="jax"), r"Empty\(\) got .* 'return_'; did you mean 'returns'\?"),
        (
            lambda: Empty(zzz=1),
            r"Empty\(\) got .* 'zzz'; there are targets, custom_calls, dump_directory, cache_directory$",
        ),
        (
            lambda: alula.export(scale, jnp.ones(2), 1.0, targets="cpu:host"),
            r"export\(\) argument 'targets' is a list of names: \['cpu:host'\]",
        ),
    ],
)
def test_options_by_name(call, text):
    with pytest.raises(TypeError, match=text):
        call()


@pytest.mark.parametrize("function", [alula.compile, alula.export, Program.get_compiled_artifact])
def test_options_are_documented(function):
    from alula.program import options

    text = inspect.getdoc(function)
    known = options.COMPILE if function is alula.compile else options.ARTIFACT
    if "get_compiled_artifact" in text:
        text = inspect.getdoc(Program.get_compiled_artifact)
    assert all(f"`{name}`" in text for name in known)


# ---- Values that are not known while Python runs ----


def line_of(text):
    for number, line in enumerate(open(__file__), 1):
        if text in line and "line_of" not in line:
            return f"{__file__}:{number}: "


def choose(x, limit):
    total = (x * 2).sum()
    if total > limit:  # here
        return x
    return -x


def test_traced_if():
    with pytest.raises(errors.TracedValueError) as caught:
        alula.compile(choose, jnp.ones(3), jnp.ones(()))
    text = str(caught.value)
    assert text.startswith(line_of("total > limit:  # here") + "`if total > limit:  # here`: ")
    assert "Python needs the value of argument 'x' and argument 'limit', which is not known" in text
    assert "while 'choose' is traced: choose with jax.numpy.where, jax.lax.cond" in text
    assert text.endswith("or make the argument static")
    assert isinstance(caught.value, jax.errors.TracerBoolConversionError)
    assert isinstance(caught.value.__cause__, jax.errors.TracerBoolConversionError)
    assert any("procedure 'choose'" in note for note in caught.value.__notes__)


def test_traced_values_of_other_kinds():
    with pytest.raises(errors.TracedValueError, match=r"argument 'i'.*jax.numpy.take"):
        alula.compile(lambda i: [1, 2, 3][i] * jnp.ones(2), jnp.int32(0))
    with pytest.raises(errors.TracedValueError, match=r"argument 'x'.*instead of numpy"):
        alula.compile(lambda x: jnp.ones(2) * np.linalg.norm(np.asarray(x)), jnp.ones(2))
    with pytest.raises(errors.TracedValueError, match=r"`.*float\(x\).*`: .*argument 'x'"):
        alula.compile(lambda x: jnp.ones(2) * float(x), jnp.ones(()))

    class Model(Program):
        _scale = jnp.ones(2)

        def run(self, tree=alula.like({"a": [jnp.ones(()), jnp.ones(())]})):
            if self._scale[0] > 0:
                return tree["a"][0]
            return tree["a"][1]

        def other(self):
            return 1 / 0

    with pytest.raises(errors.TracedValueError, match="needs the value of global '_scale', which"):
        Model()

    class Leaf(Program):
        def run(self, tree=alula.like({"a": [jnp.ones(()), jnp.ones(())]})):
            return jnp.ones(2) if tree["a"][1] > 0 else tree["a"][0]

    with pytest.raises(errors.TracedValueError, match=r"the value of argument 'tree.*1.*', which"):
        Leaf()


def test_other_errors_stay():
    with pytest.raises(ZeroDivisionError):
        alula.compile(lambda x: x * (1 / 0), jnp.ones(2))


# ---- Futures ----


@pytest.fixture(scope="module")
def loaded():
    def slow(x):
        # Many commands.
        return jax.lax.fori_loop(0, 1_000_000_000, lambda i, a: jnp.sin(a @ a + 1), x)

    class Both(Program):
        _count = jnp.zeros((), jnp.int32)

        def add(self, x=alula.like(jnp.ones(3)), n=alula.like(jnp.int32(0))):
            self._count = self._count + n
            return x + 1, self._count

        def slow(self, x=alula.like(jnp.ones((64, 64)))):
            return slow(x)

    return Program.get_compiled_artifact(Both, targets=["cpu:host"]).load()


def test_futures(loaded):
    start = int(loaded.add(np.ones(3, np.float32), 0)[1])
    made = [loaded.add.call_async(np.full(3, i, np.float32), n=1) for i in range(20)]
    assert all(isinstance(future, concurrent.futures.Future) for future in made)
    concurrent.futures.wait(made, timeout=600)
    for i, future in enumerate(made):
        array, count = future.result(timeout=600)
        # In the order of the calls.
        assert (array == i + 1).all() and count == start + i + 1 and future.done()
    heard = threading.Event()
    made[0].add_done_callback(lambda future: heard.set())
    assert heard.is_set() and made[0].exception() is None
    with pytest.raises(TypeError, match=r"add\(\) argument 'x': expected float32\[3\]"):
        loaded.add.call_async(np.ones(4, np.float32), 1)


def test_await(loaded):
    async def work():
        one = loaded.add.call_async(np.ones(3, np.float32), 0)
        two = loaded.add.call_async(np.full(3, 2, np.float32), 0)
        return await one, (await asyncio.gather(two, two))[0]

    one, two = asyncio.run(work())
    assert (one[0] == 2).all() and (two[0] == 3).all()
    made = alula.compile(scale, jnp.ones(3), jnp.ones(()))

    async def more():
        return await made.call_async(np.ones(3, np.float32), 3.0)

    assert (np.asarray(asyncio.run(more())) == 3).all()


def test_cancel(loaded):
    future = loaded.slow.call_async(np.ones((64, 64), np.float32))
    time.sleep(0.2)
    assert not future.done() and future.cancel()
    with pytest.raises(concurrent.futures.CancelledError):
        future.result(timeout=600)
    assert future.cancelled()
    # The queue goes on.
    done = loaded.add.call_async(np.ones(3, np.float32), 0)
    assert (done.result(timeout=600)[0] == 2).all() and not done.cancel()


def test_error_of_a_call():

    class Fails(Program):
        _later = Program.export_global(jax.ShapeDtypeStruct((2,), jnp.float32))

        def run(self):
            return self._later

    program = Program.get_compiled_artifact(Fails, targets=["cpu:host"]).load()
    future = program.run.call_async()
    with pytest.raises(errors.FailedPrecondition):
        future.result(timeout=600)
