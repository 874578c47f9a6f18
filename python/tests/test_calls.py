"""Calls of loaded and compiled functions: what goes the short way, and that the
long way gives the same."""

import gc
import os
import subprocess
import sys
import threading

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import alula
from alula.bindings import library, runtime


def load(function, *specs, name="run"):
    return getattr(alula.export(function, *specs, name=name).load(), name)


def is_taken(function, *given):
    """Whether the extension takes them as they are."""
    address = function._program._state.address
    return function._function.entry.call(address, given) is not None


def test_just_what_is_wanted_is_taken():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    double = load(lambda x: x * 2, x)
    read_only = x.copy()
    read_only.flags.writeable = False
    shifted = np.zeros(25, np.uint8)[1:].view(np.float32).reshape(2, 3)
    shifted[:] = x
    for given in (x, double(x), read_only):
        assert is_taken(double, given)
    strange = (
        x.astype(np.float64), x.astype(">f4"), np.asfortranarray(x), x[:, ::-1], shifted,
        x.tolist(), np.ma.array(x), x.reshape(3, 2), jnp.asarray(x).astype(jnp.bfloat16),
    )  # fmt: skip
    for given in strange:
        assert not is_taken(double, given)
    assert not is_taken(double) and not is_taken(double, x, x)
    # They are an error, or made what is wanted.
    wrong = {}
    for i, given in enumerate(strange):
        try:
            np.testing.assert_array_equal(double(given), np.asarray(given, np.float32) * 2)
        except TypeError as error:
            wrong[i] = str(error)
    assert sorted(wrong) == [1, 5, 7, 8], wrong
    assert "expected float32[2,3], got float32[3,2]" in wrong[7]


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "uint64", "float16", "float64", "complex64", "bfloat16", "float8_e4m3fn"],
)
def test_element_types(dtype):
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    x = np.ones((3, 5), kind)
    with jax.enable_x64(True):
        same = load(lambda x: x[::-1], jax.ShapeDtypeStruct(x.shape, kind))
    assert is_taken(same, x)
    assert same(x).dtype == kind and (same(x) == x).all()


def test_packed_and_empty():
    x = np.array([[1, -2, 3]], ml_dtypes.int4)
    same = load(lambda x: x[:, ::-1], jax.ShapeDtypeStruct(x.shape, x.dtype))
    assert not is_taken(same, x)
    assert same(x).astype(int).tolist() == [[3, -2, 1]] and isinstance(same(x), alula.arrays.Array)
    compiled = alula.compile(lambda x: x[:, ::-1], jax.ShapeDtypeStruct(x.shape, x.dtype))
    assert compiled(x).astype(int).tolist() == [[3, -2, 1]]
    nothing = np.zeros((0, 4), np.float32)
    empty = load(lambda x: (x + 1, x.sum()), nothing)
    made, total = empty(nothing)
    assert made.shape == (0, 4) and total == 0 and is_taken(empty, nothing)


def test_many_arguments():
    given = [np.full(3, i, np.float32) for i in range(40)]
    add = load(lambda *x: (sum(x), *x), *given)
    assert is_taken(add, *given)
    total, *others = add(*given)
    assert (total == 780).all() and all((a == b).all() for a, b in zip(others, given))


def test_unknown_sizes():
    (n,) = jax.export.symbolic_shape("n")
    spec = jax.ShapeDtypeStruct((n, 2), np.float32)
    run = load(lambda x, y: (x + y, x.sum()), spec, spec)
    compiled = alula.compile(lambda x, y: (x + y, x.sum()), spec, spec)
    for size in (3, 1, 7):
        x = np.ones((size, 2), np.float32)
        assert is_taken(run, x, x)
        for made, total in (run(x, x), compiled(x, x), compiled(jnp.asarray(x), x)):
            assert made.shape == (size, 2) and total == 2 * size
    with pytest.raises(ValueError, match="n"):
        run(np.ones((3, 2), np.float32), np.ones((4, 2), np.float32))
    with pytest.raises(TypeError, match=r"expected float32\[n,2\], got float32\[3,3\]"):
        run(np.ones((3, 3), np.float32), np.ones((3, 3), np.float32))


def test_no_compilation_for_a_new_size():
    """JAX, which makes the results' arrays, has nothing to compile for them."""
    (n,) = jax.export.symbolic_shape("n")
    run = alula.compile(lambda x: x + 1, jax.ShapeDtypeStruct((n,), np.float32))
    run(np.zeros(3, np.float32))
    compiled = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, _, **__: compiled.append(event) if "compil" in event else None
    )
    for size in range(10, 20):
        assert run(np.zeros(size, np.float32)).shape == (size,)
    assert not compiled, compiled


def test_trees_of_arguments():
    params = {"w": np.ones((2, 2), np.float32), "b": [np.zeros(2, np.float32), None]}
    x = jnp.ones(2)
    run = alula.compile(lambda p, x: {"y": p["w"] @ x + p["b"][0], "n": None}, params, x)
    assert run(params, x)["y"].tolist() == [2, 2] and run(p=params, x=x)["n"] is None
    with pytest.raises(TypeError, match="expected the structure"):
        run({"w": params["w"]}, x)
    none = alula.compile(lambda: None)
    assert none() is None
    with pytest.raises(TypeError):
        none(1)
    static = alula.compile(lambda n: jnp.ones(n), 3, static_argnums=0)
    assert static(3).shape == (3,)


def test_results_are_where_jax_puts_arrays():
    run = alula.compile(lambda x: (x + 1, x.astype(jnp.bfloat16)), jnp.zeros(3))
    made, small = run(jnp.zeros(3))
    plain = jnp.zeros(3)
    assert type(made) is type(plain) and made.sharding == plain.sharding
    assert made.committed == plain.committed and made.weak_type == plain.weak_type
    assert small.dtype == jnp.bfloat16
    assert jax.jit(lambda x: x * 2)(made).tolist() == [2, 2, 2]
    with jax.default_device(jax.devices("cpu")[0]):
        assert run(jnp.zeros(3))[0].devices() == {jax.devices("cpu")[0]}
    keys = alula.compile(lambda k: jax.random.split(k), jax.random.key(0))
    assert keys(jax.random.key(0)).dtype == jax.random.key(0).dtype


def test_deleted_argument():
    x = jnp.zeros(3)
    run = alula.compile(lambda x: x + 1, x)
    x.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        run(x)


def test_memory_is_given_back():
    x = np.zeros(1 << 20, np.float32)
    run, compiled = load(lambda x: x + 1, x), alula.compile(lambda x: x + 1, x)

    def resident():
        gc.collect()
        return int(open("/proc/self/statm").read().split()[1]) * 4096

    for function in (run, compiled, lambda x: run(x.astype(np.float64))):
        for _ in range(3):
            function(x)
        before = resident()
        for _ in range(50):
            function(x)
        assert resident() - before < 40 << 20
    references = sys.getrefcount(x)
    run(x), compiled(x)
    assert sys.getrefcount(x) == references
    # A result lives as long as somebody sees its memory.
    seen = run(x)[5:7]
    gc.collect()
    assert (seen == 1).all()


def test_threads():
    x = np.zeros(1000, np.float32)
    run, wrong = load(lambda x: x + 1, x), []

    def work(i):
        y = np.full(1000, i, np.float32)
        wrong.extend(1 for _ in range(300) if not (run(y) == i + 1).all())

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


def test_errors_of_the_runtime_come_through():
    def fail(x):
        raise ValueError("no luck")

    alula.register_custom_call("test_calls_fail", fail)

    class Fails(alula.Program):
        fail = alula.Program.extern("test_calls_fail", result=jax.ShapeDtypeStruct((3,), np.float32))

        def run(self, x=jax.ShapeDtypeStruct((3,), np.float32)):
            return self.fail(x)

    with pytest.raises(alula.AlulaError, match="no luck"):
        Fails().run(np.zeros(3, np.float32))


FORK = """
import os, signal, time, threading, numpy as np, alula
signal.signal(signal.SIGINT, signal.default_int_handler)
run = alula.load(os.environ["ARTIFACT"]).run
x = np.zeros(3, np.float32)
run(x)
child = os.fork()
if child == 0:
    assert run(x).tolist() == [1, 1, 1]
    assert any(t.name == "alula-signals" for t in threading.enumerate())
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""


def test_child_has_a_listener_of_its_own(tmp_path):
    path = alula.export(lambda x: x + 1, np.zeros(3, np.float32), name="run").save(tmp_path / "a")
    environment = {**os.environ, "ARTIFACT": str(path)}
    subprocess.run([sys.executable, "-c", FORK], env=environment, check=True, timeout=100)


def test_wrong_use_is_an_error():
    calls = library.calls()
    with pytest.raises(TypeError, match="a function is made once, of a library"):
        calls.Function(1, 2, 3, 4, (), ())
    with pytest.raises(ImportError, match="alula_buffer_wrap is missing"):
        import ctypes

        calls.Library(ctypes.CDLL(None)._handle, np.ndarray, np.ndarray, runtime.check)
    run = load(lambda x: x + 1, np.zeros(3, np.float32))
    with pytest.raises(TypeError, match="1 arrays and shapes are wanted"):
        run._function.entry.call(run._program._state.address, (), ())
    with pytest.raises(TypeError, match="arrays of JAX need a device"):
        run._function.entry.call(0, (), None, ())


def test_it_needs_the_stable_interface_alone():
    """No name of CPython that is not in its list of what stays."""
    path = library.find("alula_calls.abi3.so", "ALULA_CALLS_LIBRARY")
    listed = subprocess.run(
        ["nm", "-D", str(path)], check=True, capture_output=True, text=True
    ).stdout.split("\n")
    undefined = {line.split()[-1].split("@")[0] for line in listed if " U " in line}
    private = {name for name in undefined if name.startswith("_Py")}
    stable = {"None", "False", "True"}
    assert private <= {f"_Py_{name}Struct" for name in stable} | {
        "_Py_Dealloc", "_PyArg_ParseTuple_SizeT", "_Py_BuildValue_SizeT", "_PyObject_New",
    }, private  # fmt: skip
    defined = {line.split()[-1] for line in listed if " T " in line}
    assert defined == {"PyInit_alula_calls"}
