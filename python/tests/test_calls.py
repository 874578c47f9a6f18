"""Calls of loaded and compiled functions: what goes the short way, and that the
long way gives the same."""

import collections
import gc
import os
import resource
import subprocess
import sys
import threading
import time

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import alula
from alula.bindings import library, runtime
from alula.program import duration


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
        spec = jax.ShapeDtypeStruct(x.shape, kind)
        same, compiled = load(lambda x: x[::-1], spec), alula.compile(lambda x: x[::-1], spec)
        of_jax = jnp.asarray(x)
        assert (compiled(of_jax) == x).all()
    assert is_taken(same, x) and is_taken(same, of_jax)
    assert same(x).dtype == kind and (same(x) == x).all() and (same(of_jax) == x).all()
    of_jax.delete()
    assert not is_taken(same, of_jax)
    with pytest.raises(RuntimeError, match="deleted"):
        same(of_jax)


def test_memory_of_what_is_gone():
    x = jnp.zeros(1 << 18)
    double = alula.compile(lambda x: x * 2, x)
    double(x), double(x)
    assert len({double(x).unsafe_buffer_pointer() for _ in range(6)}) == 1
    kept = [double(x) for _ in range(3)]
    assert len({array.unsafe_buffer_pointer() for array in kept}) == 3


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


def test_results_take_the_memory_of_those_that_are_gone():
    x = np.zeros(10 << 20, np.float32)
    run, compiled = load(lambda x: x + 1, x), alula.compile(lambda x: x + 1, x)
    for function in (run, compiled):
        for _ in range(3):
            function(x)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(5):
            function(x)
        # A result has 20 huge pages, or 10,240 others.
        assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 5 * 10


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
        fail = alula.Program.extern(
            "test_calls_fail", result=jax.ShapeDtypeStruct((3,), np.float32)
        )

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
    subprocess.run([sys.executable, "-c", FORK], env=environment, check=True, timeout=2000)


BRIEF = """
import threading, numpy as np, alula, jax

def listens():
    return any(t.name == "alula-signals" for t in threading.enumerate())

x = np.zeros(3, np.float32)
assert alula.compile(lambda x: x + 1, x)(x).tolist() == [1, 1, 1] and not listens()
endless = alula.compile(lambda x: jax.lax.while_loop(lambda x: x[0] < 2, lambda x: x + 1, x), x)
assert endless(x).tolist() == [2, 2, 2] and listens()
"""


def test_nobody_listens_for_brief_calls():
    subprocess.run([sys.executable, "-c", BRIEF], check=True, timeout=2000)


def test_what_is_brief():
    def is_brief(function, *shapes):
        given = [jax.ShapeDtypeStruct(shape, np.float32) for shape in shapes]
        return duration.is_brief(duration.Steps(jax.make_jaxpr(function)(*given).jaxpr))

    assert is_brief(lambda x: jnp.tanh(x) @ x.T, (64, 64))
    assert is_brief(jax.jit(lambda x: jax.nn.relu(x[2:5]).sum()), (1000,))
    assert is_brief(lambda x: jax.lax.cond(x[0] > 0, jnp.sin, jnp.cos, x), (9,))
    assert is_brief(lambda x: jax.lax.fori_loop(0, 50, lambda i, x: x * 2, x), (9,))
    assert not is_brief(lambda x: jax.lax.fori_loop(0, 10**8, lambda i, x: x * 2, x), (9,))
    assert not is_brief(lambda x: x + 1, (100_000,))
    kernel = np.ones((9, 9, 3, 8), np.float32)

    def convolve(x):
        numbers = ("NHWC", "HWIO", "NHWC")
        return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=numbers)

    assert is_brief(convolve, (1, 64, 64, 3))
    assert not is_brief(convolve, (2, 64, 64, 3))
    assert not is_brief(lambda x: x @ x, (300, 300))
    assert not is_brief(jnp.linalg.cholesky, (3, 3))
    assert not is_brief(lambda x: jax.pure_callback(np.sin, x, x), (3,))
    assert not is_brief(lambda x: jax.debug.print("{}", x), (3,))
    assert not is_brief(lambda x: jax.lax.cond(x[0, 0] > 0, jnp.linalg.inv, jnp.sin, x), (1, 1))
    assert not is_brief(jax.grad(lambda x: jnp.linalg.inv(x).sum()), (3, 3))


def test_what_is_brief_for_some_sizes():
    def steps(function, text):
        given = jax.ShapeDtypeStruct(jax.export.symbolic_shape(text), np.float32)
        return duration.Steps(jax.make_jaxpr(function)(given).jaxpr)

    assert not duration.is_brief(steps(lambda x: x + 1, "n"))
    # Products of sizes and sums of them.
    made = steps(lambda x: jnp.sin(jnp.concatenate([x, x, x[:1]])), "n")
    assert duration.is_brief(made, ((10_000,),))
    assert not duration.is_brief(made, ((100_000,),))
    made = steps(lambda x: x @ x.T, "n, m")
    assert duration.is_brief(made, ((10, 1000),))
    assert not duration.is_brief(made, ((1000, 11),))
    # Nobody knows n.
    assert not duration.is_brief(steps(lambda x: x.reshape(2, -1)[0] + 1, "2*n"), ((10,),))


def test_compiled_functions_take_no_step_of_python():
    x = np.ones(3, np.float32)
    for function, args in [
        (lambda x: x + 1, (x,)),
        (lambda x, y: (x + y, x * y), (x, x)),
        (lambda: jnp.arange(3.0), ()),
    ]:
        run = alula.compile(function, *args)
        first = run(*args)
        run._info.call = None
        for _ in range(2):
            again = run(*args)
            assert jax.tree.structure(again) == jax.tree.structure(first)
            for a, b in zip(jax.tree.leaves(again), jax.tree.leaves(first)):
                assert isinstance(a, jax.Array) and not a.committed and a.sharding == b.sharding
                np.testing.assert_array_equal(a, b)
        if args:
            with pytest.raises(TypeError, match="'NoneType' object is not callable"):
                run(*(a.astype(np.float64) for a in args))
            with pytest.raises(TypeError, match="a caller is prepared once"):
                run._prepare(0, 0, (), None, False, None, None, None, None)
    # Other ways to give arguments, and other trees, as before.
    strided = np.arange(6, dtype=np.float32)[::2]
    run = alula.compile(lambda x, y: {"sum": x + y}, x, x)
    for _ in range(2):
        np.testing.assert_array_equal(run(x, y=x)["sum"], [2, 2, 2])
        np.testing.assert_array_equal(run(x, strided)["sum"], [1, 3, 5])
    run = alula.compile(lambda x: x + 1, x)
    for _ in range(2):
        with pytest.raises(TypeError, match="argument"):
            run(x, x)
        np.testing.assert_array_equal(run(x=x), [2, 2, 2])
        np.testing.assert_array_equal(run(strided), [1, 3, 5])


def test_wrong_use_is_an_error():
    calls = library.calls()
    with pytest.raises(TypeError, match="a function is made once, of a library"):
        calls.Function(1, 2, 3, 4, (), (), False)
    with pytest.raises(ImportError, match="alula_buffer_wrap is missing"):
        import ctypes

        calls.Library(ctypes.CDLL(None)._handle, np.ndarray, np.ndarray, runtime.check, None)
    with pytest.raises(ValueError, match="PyCapsule_GetPointer"):
        handle = library.runtime()._handle
        calls.Library(handle, np.ndarray, np.ndarray, runtime.check, None)
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
    stable = {"None", "False", "True", "NotImplemented"}
    assert private <= {f"_Py_{name}Struct" for name in stable} | {
        "_Py_Dealloc", "_PyArg_ParseTuple_SizeT", "_Py_BuildValue_SizeT", "_PyObject_New",
    }, private  # fmt: skip
    defined = {line.split()[-1] for line in listed if " T " in line}
    assert defined == {"PyInit_alula_calls"}


def is_tree_taken(function, *given):
    """Whether the extension takes the arguments as they are, trees too."""
    address = function._program._state.address
    return function._function.entry.call_tree(address, given, function._trees) is not NotImplemented


Point = collections.namedtuple("Point", "x y")


def test_trees_of_loaded_functions():
    x = np.arange(3, dtype=np.float32)
    params = {"w": x + 1, "b": [x, None, (x * 2, Point(x, x + 5))], "a": ()}

    def f(p, x):
        w, (b, _, (c, point)) = p["w"], p["b"]
        return {"sum": w + b + c + point.y + x, "parts": [w, (b, None)], "none": {}}

    run = load(f, params, x)
    want = {"sum": x + 1 + x + 2 * x + x + 5 + x, "parts": [x + 1, (x, None)], "none": {}}
    assert is_tree_taken(run, params, x)
    for made in (run(params, x), run(p=params, x=x), run(params, x=x)):
        jax.tree.map(np.testing.assert_array_equal, made, want)
        assert jax.tree.structure(made) == jax.tree.structure(want)
        assert isinstance(made["sum"], alula.arrays.Array)
    # Any sequence is one, in any order of keys.
    other = {"a": [], "b": (x, None, [x * 2, (x, x + 5)]), "w": x + 1}
    assert is_tree_taken(run, other, x)
    np.testing.assert_array_equal(run(other, x)["sum"], want["sum"])
    references = sys.getrefcount(x)
    run(params, x), run.call_async(params, x).result()
    assert sys.getrefcount(x) == references


def test_trees_that_python_takes_apart():
    x = np.arange(3, dtype=np.float32)
    ordered = collections.OrderedDict(b=x, a=x + 1)
    run = load(lambda p: collections.OrderedDict(z=p["a"], y=p["b"]), ordered)
    assert not is_tree_taken(run, ordered) and not is_tree_taken(run, {"a": x})
    assert list(run(ordered)) == ["z", "y"] and list(run({"a": x + 1, "b": x})) == ["z", "y"]
    point = load(lambda p: Point(p.y, p.x), Point(x, x + 1))
    assert type(point(Point(x, x + 1))) is Point and (point((x, x + 1)).x == x + 1).all()
    strange = {"b": x, "a": x.astype(np.float64)}
    assert run(strange)["z"].dtype == np.float32
    for given, text in (
        (({"a": x},), r"argument p: expected a dictionary of \['b', 'a'\], got \['a'\]"),
        (([x, x],), "argument p: expected a dictionary .*, got list"),
        (({"a": x, "b": [x]},), "'p.b'"),
        ((ordered, x), "takes 1 arguments, 2 given"),
        ((), "missing arguments: 'p'"),
    ):
        with pytest.raises(TypeError, match=text):
            run(*given)
    with pytest.raises(TypeError, match="unexpected argument 'q'"):
        run(q=ordered)
    with pytest.raises(TypeError, match="multiple values for argument 'p'"):
        run(ordered, p=ordered)


def test_keys_that_fail_to_be_compared():
    class Key(str):
        def __hash__(self):
            return hash("a")

        def __eq__(self, other):
            raise ZeroDivisionError

    x = np.ones(3, np.float32)
    run = load(lambda p: p["a"], {"a": x})
    with pytest.raises(ZeroDivisionError):
        run({Key("other"): x})


def test_trees_of_compiled_functions_take_no_step_of_python():
    x = jnp.arange(3.0)
    params = {"w": x + 1, "b": [x, (x * 2,)]}
    run = alula.compile(lambda p, x: {"y": p["w"] + x, "z": (p["b"][0], [p["b"][1][0]])}, params, x)
    run(params, x)
    slowly, called = type(run)._call_slowly, []
    type(run)._call_slowly = lambda self, *given: called.append(1) or slowly(self, *given)
    try:
        made = run(params, x)
        assert not called
        assert made["y"].tolist() == [1, 3, 5] and type(made["z"]) is tuple
        assert type(made["y"]) is type(x) and made["z"][1][0].tolist() == [0, 2, 4]
        # As JAX sees it, a list is no tuple.
        with pytest.raises(TypeError, match="expected the structure"):
            run({"w": x, "b": (x, (x,))}, x)
        assert called
    finally:
        type(run)._call_slowly = slowly


def test_asynchronous_calls():
    x = np.arange(3, dtype=np.float32)
    run = load(lambda p: {"y": p["x"] * 2, "z": p["x"].sum()}, {"x": x})
    futures = [run.call_async({"x": x + i}) for i in range(50)]
    for i, future in enumerate(futures):
        assert (future.result()["y"] == (x + i) * 2).all()
    assert run.call_async(p={"x": x.astype(np.float64)}).result()["z"] == 3
    with pytest.raises(TypeError, match="expected float32"):
        run.call_async({"x": x[:2]})
    # Arguments live as long as the call needs them, results as long as they are seen.
    futures = [run.call_async({"x": np.full(3, i, np.float32)}) for i in range(200)]
    gc.collect()
    seen = [future.result()["y"] for future in futures]
    del futures
    gc.collect()
    assert all((y == 2 * i).all() for i, y in enumerate(seen))
    packed = load(lambda x: x[::-1], jax.ShapeDtypeStruct((3,), jnp.int4))
    made = packed.call_async(np.array([1, 2, 3], ml_dtypes.int4)).result()
    assert made.astype(int).tolist() == [3, 2, 1]
    many = [np.full(3, i, np.float32) for i in range(40)]
    total, *_ = load(lambda *x: (sum(x), *x), *many).call_async(*many).result()
    assert (total == 780).all()


def test_asynchronous_calls_that_fail():
    (n,) = jax.export.symbolic_shape("n")
    spec = jax.ShapeDtypeStruct((n,), np.float32)
    run = load(lambda x, y: x + y, spec, spec)
    x = np.ones(3, np.float32)
    references = sys.getrefcount(x)
    assert run.call_async(x, x).result().tolist() == [2, 2, 2]
    with pytest.raises(ValueError, match="n"):
        run.call_async(x, x[:2]).result()
    for _ in range(20):
        try:
            run.call_async(x, x[:2]).result()
        except ValueError:
            pass
    # The thread of a call lets go of arguments after it has told the result.
    end = time.monotonic() + 60
    while sys.getrefcount(x) != references and time.monotonic() < end:
        gc.collect()
    assert sys.getrefcount(x) == references


def test_trees_say_what_is_wrong():
    trees = library.calls().Trees
    with pytest.raises(ValueError, match="leaves are numbered in order"):
        trees(2, (3, (1, 0)), 0, None)
    with pytest.raises(ValueError, match="3 leaves, not 2"):
        trees(3, (3, (0, 1)), 0, None)
    with pytest.raises(ValueError, match="a tree of an unknown kind"):
        trees(1, (9, (0,)), 0, None)
    x = np.ones(3, np.float32)
    run = load(lambda x: x + 1, x)
    with pytest.raises(TypeError, match="trees of this function are wanted"):
        run._function.entry.call_tree(run._program._state.address, (x,), trees(2, None, 1, None))
