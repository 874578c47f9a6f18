"""Calls of entry points: arguments, results, threads, failures."""

import os
import subprocess
import sys
import threading
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from program_tools import ROOT

from alula import Program, like
from alula.errors import AlulaError, CompileError

X = jnp.ones((3, 4))


class Echo(Program):
    _calls = jnp.asarray(0)

    def run(self, multiplier=like(X), pair=like({"a": X[0], "b": [np.int32(0)]})):
        self._calls = self._calls + 1
        return multiplier.sum() + pair["a"].sum() + pair["b"][0]

    def scalar(self, x=like(np.float32(0)), n=like(np.int32(0)), f=like(np.bool_(0))):
        return x, n, f

    def key(self, k=like(jax.ShapeDtypeStruct((2,), jnp.uint32))):
        return k


@pytest.fixture(scope="module")
def echo():
    return Echo()


PAIR = {"a": np.ones(4, np.float32), "b": [2]}


def test_arguments_by_position_and_name(echo):
    assert echo.run(X, PAIR) == echo.run(pair=PAIR, multiplier=np.ones((3, 4))) == 18
    assert echo.run(np.asfortranarray(np.ones((3, 4), np.float32)), PAIR) == 18
    assert echo.run(np.ones((4, 3), np.float32).T[:, ::-1], PAIR) == 18
    assert echo.scalar(2, 3, True) == (2, 3, True)
    assert echo.scalar(np.float64(2), np.int64(3), np.asarray(True)) == (2, 3, True)


@pytest.mark.parametrize(
    "args, text",
    [
        (
            (np.ones((3, 5), np.float32), PAIR),
            r"run\(\) argument 'multiplier': expected float32\[3,4\], got float32\[3,5\]",
        ),
        ((X.astype(jnp.int32), PAIR), r"'multiplier': expected float32\[3,4\], got int32\[3,4\]"),
        (
            (X, {"a": np.ones(3, np.float32), "b": [0]}),
            r"'pair.a': expected float32\[4\], got float32\[3\]",
        ),
        ((X, {"a": X[0], "b": [1.5]}), "'pair.b.0': expected int32.., got the Python number 1.5"),
        ((X, {"a": X[0], "b": [2**40]}), "which is too large"),
        ((X, {"a": X[0], "b": ["x"]}), "expected int32.., got 'x' of type str"),
        (
            (X, {"a": X[0], "c": [0]}),
            r"'pair': expected the structure .* first difference at pair: ",
        ),
        (
            (X, {"a": X[0], "b": [0, 0]}),
            r"first difference at pair\['b'\]: expected parts \(\[0\]\)",
        ),
        ((X,), r"run\(\) missing arguments: 'pair'"),
        ((X, PAIR, 3), r"run\(\) takes 2 arguments but 3 were given"),
    ],
)
def test_wrong_arguments(echo, args, text):
    before = int(echo._calls)
    with pytest.raises(TypeError, match=text):
        echo.run(*args)
    assert echo._calls == before
    with pytest.raises(TypeError, match="unexpected argument 'speed'"):
        echo.run(X, PAIR, speed=3)


def test_all_mismatches_at_once(echo):
    with pytest.raises(TypeError) as caught:
        echo.run(np.ones(2), {"a": np.ones(2), "b": [1.5]})
    assert str(caught.value).count("run() argument '") == 3


def test_tracers_are_refused(echo):
    with pytest.raises(TypeError, match="got a JAX tracer: call it outside of jit"):
        jax.jit(lambda x: echo.run(x, PAIR))(X)


def test_signedness(echo):
    with pytest.warns(UserWarning, match="argument 'k': int32 is taken as uint32, bit by bit"):
        assert echo.key(np.asarray([1, -1], np.int32)).tolist() == [1, 2**32 - 1]


def test_dlpack(echo):
    class Foreign:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **kwargs):
            return self.array.__dlpack__(**kwargs)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    assert echo.run(Foreign(np.ones((3, 4), np.float32)), PAIR) == 18


def test_results_are_jax_arrays(echo):
    result = echo.run(X, PAIR)
    assert isinstance(result, jax.Array) and result.shape == ()
    assert jax.jit(lambda v: v + 1)(result) == 19


def test_threads():
    class C(Program):
        _n = jnp.asarray(0)

        def bump(self):
            self._n = self._n + 1
            return self._n

    shared, own = C(), [C() for _ in range(4)]

    def work(mine):
        for _ in range(50):
            shared.bump()
            mine.bump()

    threads = [threading.Thread(target=work, args=(mine,)) for mine in own]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shared._n == 200 and all(mine._n == 50 for mine in own)


def test_async(echo):
    futures = [echo.run.call_async(X, PAIR) for _ in range(3)]
    assert [future.result() for future in futures] == [18] * 3


class Dynamic(Program):
    _n = jnp.asarray(0)
    _w = jnp.arange(8.0).reshape(4, 2)

    def run(
        self,
        x=like(
            jax.ShapeDtypeStruct(
                jax.export.symbolic_shape("b,4", constraints=["b>=2", "b<=6"]), jnp.float32
            )
        ),
    ):
        self._n = self._n + 1
        return jnp.tanh(x @ self._w), x.shape[0] * self._n


def test_symbolic_batch():
    d = Dynamic()
    for i, b in enumerate(range(2, 7)):
        x = np.random.RandomState(b).rand(b, 4).astype(np.float32)
        y, n = d.run(x)
        np.testing.assert_allclose(y, np.tanh(x @ np.arange(8).reshape(4, 2)), rtol=1e-5)
        assert n == b * (i + 1)
    for b in (1, 7):
        with pytest.raises(ValueError, match="dimension variable 'b'|constraint"):
            d.run(np.zeros((b, 4), np.float32))
    assert d._n == 5, "a call that fails leaves the state as it was"
    with pytest.raises(
        TypeError, match=r"argument 'x': expected float32\[b,4\], got float32\[2,5\]"
    ):
        d.run(np.zeros((2, 5), np.float32))


def test_failures_are_atomic():
    """An assertion that fails after stores in the text."""

    class C(Program):
        _a = jnp.zeros(600)
        _b = jnp.asarray(0)

        def run(self, x=like(jax.ShapeDtypeStruct(jax.export.symbolic_shape("2*k"), jnp.float32))):
            self._a = self._a + 1
            self._b = self._b + 1
            return x.reshape(-1, 2).sum(axis=1)

    c = C()
    assert c.run(np.ones(4, np.float32)).tolist() == [2, 2]
    with pytest.raises(AlulaError):
        c.run(np.ones(3, np.float32))
    assert c._a.tolist() == [1] * 600 and c._b == 1


def test_compile_errors_name_the_procedure():
    class C(Program):
        def cheap(self):
            return 1

        def broken(self):
            return jax.pure_callback(lambda: np.float32(1), jax.ShapeDtypeStruct((), jnp.float32))

    # With the plugin callbacks have a lowering, without it JAX has none.
    with pytest.raises((CompileError, NotImplementedError, ValueError)) as caught:
        C().cheap()
    text = str(caught.value) + "".join(getattr(caught.value, "__notes__", ()))
    assert "procedure 'broken'" in text
    if isinstance(caught.value, CompileError):
        assert text.startswith(__file__) and "Program.print prints without" in text
        assert caught.value.diagnostics


SHARDED = """
import jax, jax.numpy as jnp
from alula import Program

mesh = jax.make_mesh((2,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
f = lambda self: jax.lax.with_sharding_constraint(jnp.ones(4) * 2, sharding)
Program.create_from_dict("C", {"f": f})().f()
"""


def test_sharded_procedures():
    environment = dict(
        os.environ,
        XLA_FLAGS="--xla_force_host_platform_device_count=2",
        JAX_PLATFORMS="cpu",
        PYTHONPATH=str(ROOT / "python"),
    )
    result = subprocess.run(
        [sys.executable, "-c", SHARDED], env=environment, capture_output=True, text=True
    )
    assert "procedure 'f' is sharded over 2 devices; there is one" in result.stderr


def test_no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Echo().run(X, PAIR) == 18
