"""Handlers of XLA's FFI in programs of JAX. test_snippets.py runs this file.

What handlers are told is what XLA:CPU tells them: the same functions run on both."""

import ctypes
import functools
import gc
import os
import pathlib
import shutil
import subprocess
import tempfile
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax._src import core
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from jaxlib import lapack

CPU = jax.devices("cpu")[0]
HERE = pathlib.Path(__file__).resolve().parent


def build(name):
    """A library of handlers, made by whichever compiler of C++ there is."""
    compiler = os.environ.get("CXX") or shutil.which("clang++-19") or shutil.which("c++")
    if compiler is None:
        pytest.skip("no compiler of C++")
    library = pathlib.Path(tempfile.mkdtemp()) / f"{name}.so"
    command = [compiler, "-std=c++17", "-O1", "-shared", "-fPIC", "-I", jax.ffi.include_dir()]
    subprocess.run([*command, str(HERE / f"{name}.cc"), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


HANDLERS = build("ffi_handlers")


def capsule(name):
    return jax.ffi.pycapsule(getattr(HANDLERS, name))


def counter_type():
    for name in ("CounterId", "CounterInfo"):
        getattr(HANDLERS, name).restype = ctypes.c_void_p
    return {
        "type_id": jax.ffi.pycapsule(HANDLERS.CounterId()),
        "type_info": jax.ffi.pycapsule(HANDLERS.CounterInfo()),
    }


# Types first: handlers that make them are asked for them when they come.
jax.ffi.register_ffi_type("counter", counter_type(), platform="cpu")
jax.ffi.register_ffi_type("counter", counter_type(), platform="alula")
ON_BOTH = ["RmsNorm", "SumAndMost", "Fail", "SquareLater", "AddDevice", "AddOne", "Describe"]
for name in ON_BOTH:
    jax.ffi.register_ffi_target(name, capsule(name), platform="cpu")
jax.ffi.register_ffi_target("Reverse", capsule("Reverse"), platform="alula")
for platform in ("cpu", "alula"):
    jax.ffi.register_ffi_target(
        "Counter",
        {"instantiate": capsule("CounterInstantiate"), "execute": capsule("CounterExecute")},
        platform=platform,
    )
jax.ffi.register_ffi_target(
    "Stages",
    {
        "prepare": capsule("StagesPrepare"),
        "initialize": capsule("StagesInitialize"),
        "execute": capsule("StagesExecute"),
    },
    platform="alula",
)


def struct(*shape, dtype=np.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def rms_norm(x, eps=1e-5, **options):
    call = jax.ffi.ffi_call("RmsNorm", struct(*x.shape), **options)
    return call(x, eps=np.float32(eps))


def reference(x, eps=1e-5):
    return x / np.sqrt(np.mean(np.square(x), -1, keepdims=True) + eps)


X = np.random.RandomState(0).randn(6, 5).astype(np.float32)


def describe(*operands, out=(), layouts=None, on=None, **attributes):
    """What the handler sees, as text."""
    structs = [*out, struct(4096, dtype=np.uint8)]
    options = {}
    if layouts:
        options = dict(input_layouts=layouts[0], output_layouts=[*layouts[1], None])
    call = jax.ffi.ffi_call("Describe", structs, **options)
    with jax.default_device(on):
        result = jax.jit(lambda *operands: call(*operands, **attributes)[-1])(*operands)
    return bytes(np.asarray(result)).rstrip(b"\0").decode()


def agree_on_description(*operands, **options):
    ours, theirs = describe(*operands, **options), describe(*operands, on=CPU, **options)
    assert ours == theirs
    return ours


# ---- Calls ----


def test_call():
    np.testing.assert_allclose(jax.jit(rms_norm)(X), reference(X), rtol=1e-5)


def test_eager():
    np.testing.assert_allclose(rms_norm(jnp.asarray(X)), reference(X), rtol=1e-5)


def test_several_results():
    call = jax.ffi.ffi_call("SumAndMost", [struct(dtype=np.float64), struct(dtype=np.int32)])
    with jax.enable_x64(True):
        total, most = jax.jit(call)(np.array([1.5, 7.0, -2.0]))
    assert (total, most) == (6.5, 1)


def test_gradient():
    @jax.custom_vjp
    def norm(x):
        return rms_norm(x)

    norm.defvjp(lambda x: (norm(x), x), lambda x, g: (3 * g * rms_norm(x),))
    gradient = jax.jit(jax.grad(lambda x: norm(x).sum()))(X)
    np.testing.assert_allclose(gradient, 3 * reference(X), rtol=1e-5)


def test_no_gradient():
    with pytest.raises(ValueError, match="cannot be differentiated"):
        jax.grad(lambda x: rms_norm(x).sum())(X)


@pytest.mark.parametrize(
    "method", ["sequential", "sequential_unrolled", "expand_dims", "broadcast_all"]
)
def test_vmap(method):
    call = jax.jit(jax.vmap(functools.partial(rms_norm, vmap_method=method)))
    np.testing.assert_allclose(call(X.reshape(3, 2, 5)), reference(X.reshape(3, 2, 5)), rtol=1e-5)


def test_loops_and_branches():
    def step(carry, x):
        carry = lax.cond(x > 1, lambda: rms_norm(carry), lambda: carry * 2)
        return carry, carry.sum()

    def loop(x):
        carry, sums = lax.scan(step, x, jnp.arange(4))
        return lax.while_loop(
            lambda v: v[0] < 3, lambda v: (v[0] + 1, rms_norm(v[1])), (0, carry)
        ), sums

    (count, result), sums = jax.jit(loop)(X)
    expected = X * 4
    for _ in range(5):
        expected = reference(expected)
    assert count == 3 and sums.shape == (4,)
    np.testing.assert_allclose(result, expected, rtol=1e-4)


def test_unused_call_goes_unless_it_has_effects():
    def f(has_side_effect):
        call = jax.ffi.ffi_call("Fail", struct(), has_side_effect=has_side_effect)

        def program(x):
            call(x, message="seen")
            return x + 1

        return jax.jit(program)

    assert f(False)(1.0) == 2
    with pytest.raises(jax.errors.JaxRuntimeError, match="seen"):
        f(True)(1.0).block_until_ready()


def test_tokens():
    def f(x):
        token = lax.create_token()
        token, y = jax.ffi.ffi_call("Describe", [core.abstract_token, struct(64, dtype=np.uint8)])(
            token, x
        )
        return y

    texts = []
    for device in (None, CPU):
        with jax.default_device(device):
            texts.append(bytes(np.asarray(jax.jit(f)(jnp.ones(3)))).rstrip(b"\0").decode())
    assert texts == ["17[] 11[3,] -> 17[] 6[64,] {}"] * 2


# ---- What handlers see ----

ATTRIBUTES = [
    1,
    np.int8(-3),
    np.int16(7),
    np.int32(-1),
    np.int64(1 << 40),
    np.uint8(200),
    np.uint32(1 << 31),
    np.uint64(1 << 62),
    True,
    np.bool_(False),
    2.5,
    np.float32(0.1),
    float("nan"),
    "text",
    "",
    "zwölf \x00 bytes",
    np.arange(3),
    np.full((2, 2), 7, np.float32),
    np.array(1, np.int16),
    np.arange(5, dtype=np.uint8),
    np.zeros((0,), np.float32),
    {},
]


@pytest.mark.parametrize("value", ATTRIBUTES, ids=repr)
def test_attribute(value):
    text = agree_on_description(jnp.ones((4, 5)), p=value)
    assert text.startswith("11[4,5,] -> 6[4096,] {p=")


def test_attributes_are_sorted_and_nested():
    """JAX itself has no way to nest them."""
    from jax._src.interpreters import mlir

    def lower(ctx, x):
        rule = jax.ffi.ffi_lowering("Describe")
        return rule(ctx, x, b=1, a={"z": "q", "y": {"k": np.arange(2)}}, aa=np.float32(1))

    primitive = core.Primitive("describe")
    primitive.def_abstract_eval(lambda x: core.ShapedArray((256,), np.uint8))
    mlir.register_lowering(primitive, lower)
    texts = []
    for device in (jax.devices()[0], CPU):
        result = jax.jit(primitive.bind)(jax.device_put(np.ones(2, np.float32), device))
        texts.append(bytes(np.asarray(result)).rstrip(b"\0").decode())
    assert texts[0] == texts[1]
    assert texts[0].endswith(
        "{a={y={k=array 5 00000000000000000100000000000000;};z='q';};"
        "aa=scalar 11 0000803f;b=scalar 5 0100000000000000;}"
    )


@pytest.mark.parametrize("value", [(1, 2), ("a", "b"), (1.5, np.arange(2))], ids=repr)
def test_attributes_without_a_form(value):
    if not isinstance(value[1], np.ndarray):
        with pytest.raises(jax.errors.JaxRuntimeError, match="'p' is a list of attributes"):
            describe(jnp.ones(2), p=value)


def test_types():
    operands = [jnp.ones((2, 3), dtype) for dtype in ("bool", "int4", "int8", "bfloat16")]
    operands += [jnp.ones(2, "complex64"), jnp.ones((), "float8_e4m3fn"), jnp.ones((0, 2))]
    agree_on_description(*operands, out=[struct(2, dtype=np.uint16), struct()])


def test_layouts():
    x = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    text = agree_on_description(x, out=[struct(5, 6, 7)], layouts=([(0, 2, 1)], [(2, 0, 1)]), p=1)
    # Dimensions are the program's.
    assert text.startswith("11[2,3,4,] -> 11[5,6,7,] ")

    def reverse(order_in, order_out):
        call = jax.ffi.ffi_call(
            "Reverse", struct(2, 3, 4), input_layouts=[order_in], output_layouts=order_out
        )
        return jax.jit(lambda x: call(x) + 0)(x)

    def place(x, order):
        return np.transpose(x, order).reshape(-1)

    for orders in [((2, 1, 0), (0, 1, 2)), ((0, 2, 1), (1, 2, 0)), ((1, 2, 0), (1, 2, 0))]:
        result = np.asarray(reverse(*orders))
        np.testing.assert_array_equal(place(result, orders[1]), place(x, orders[0])[::-1])


def test_aliases():
    call = jax.ffi.ffi_call("AddOne", struct(6, 5), input_output_aliases={0: 0})

    def f(x):
        # The operand is needed afterwards.
        y = x * 2
        return call(y), y

    for device in (None, CPU):
        with jax.default_device(device):
            result, operand = jax.jit(f)(X)
            np.testing.assert_array_equal(result, X * 2 + 1)
            np.testing.assert_array_equal(operand, X * 2)
    # In the argument's memory, with a layout of its own.
    turned = jax.ffi.ffi_call(
        "AddOne",
        struct(6, 5),
        input_output_aliases={0: 0},
        input_layouts=[(1, 0)],
        output_layouts=(1, 0),
    )
    given = jnp.asarray(X)
    np.testing.assert_array_equal(jax.jit(turned, donate_argnums=0)(given), X + 1)


def test_scratch_memory():
    call = jax.ffi.ffi_call("Reverse", struct(6, 5))
    np.testing.assert_array_equal(jax.jit(call)(X), X[::-1, ::-1])


# ---- Threads and devices ----


def test_future():
    call = jax.ffi.ffi_call("SquareLater", struct(1000))
    x = np.arange(1000, dtype=np.float32)
    for _ in range(20):
        np.testing.assert_array_equal(jax.jit(lambda x: call(x, fails=False))(x), x * x)
    with pytest.raises(jax.errors.JaxRuntimeError, match="INTERNAL.*failed on another thread"):
        jax.jit(lambda x: call(x, fails=True))(x).block_until_ready()


def test_devices():
    mesh = jax.make_mesh((2,), ("i",))
    call = jax.ffi.ffi_call("AddDevice", [struct(2), struct(1, dtype=np.int64)])
    with jax.enable_x64(True):
        f = jax.jit(jax.shard_map(call, mesh=mesh, in_specs=P("i"), out_specs=P("i")))
        x = jax.device_put(np.zeros(4, np.float32), NamedSharding(mesh, P("i")))
        values, runs = f(x)
        np.testing.assert_array_equal(values, [0, 0, 1, 1])
        # All devices are in one run, and the next is another.
        runs, later = np.asarray(runs), np.asarray(f(x)[1])
        assert runs[0] == runs[1] != later[0]
        one = jax.jit(call)(jax.device_put(np.zeros(2, np.float32), jax.devices()[1]))[0]
    np.testing.assert_array_equal(one, [1, 1])


def test_partitioned_along_batches():
    mesh = jax.make_mesh((2,), ("i",))
    x = np.random.RandomState(0).randn(4, 6, 5).astype(np.float32)
    sharding = NamedSharding(mesh, P("i"))

    def lower(ctx, x):
        from jax._src.interpreters import mlir

        batch = mlir.ir_attribute({"num_batch_dims": "1"})
        rule = jax.ffi.ffi_lowering("RmsNorm", extra_attributes={"mhlo.frontend_attributes": batch})
        return rule(ctx, x, eps=np.float32(1e-5))

    from jax._src.interpreters import mlir

    primitive = core.Primitive("batch_norm")
    primitive.def_abstract_eval(lambda x: core.ShapedArray(x.shape, x.dtype))
    mlir.register_lowering(primitive, lower)
    jax.ffi.register_ffi_target_as_batch_partitionable("RmsNorm")
    f = jax.jit(primitive.bind, in_shardings=sharding, out_shardings=sharding)
    np.testing.assert_allclose(f(x), reference(x), rtol=1e-5)
    assert "all-gather" not in f.lower(x).compile().as_text()


# ---- States ----


def test_state():
    """Each call of each program has its own, made when it is compiled."""
    call = jax.ffi.ffi_call("Counter", struct(dtype=np.int32), has_side_effect=True)
    alive = HANDLERS.CountersAlive()

    def program():
        return call(start=np.int32(5)), call(start=np.int32(5)), call(start=np.int32(50))

    f = jax.jit(program)
    assert [tuple(map(int, f())) for _ in range(3)] == [(5, 5, 50), (6, 6, 51), (7, 7, 52)]
    assert HANDLERS.CountersAlive() == alive + 3
    del f
    jax.clear_caches()
    gc.collect()
    assert HANDLERS.CountersAlive() == alive
    with pytest.raises(jax.errors.JaxRuntimeError, match="'Counter': a counter starts at 0"):
        jax.jit(lambda: call(start=np.int32(-1)))()


def test_stages_of_a_call():
    call = jax.ffi.ffi_call("Stages", struct(dtype=np.int32))
    alive = HANDLERS.CountersAlive()
    f = jax.jit(lambda: call())
    assert f() == 30 and f() == 30
    assert HANDLERS.CountersAlive() == alive


# ---- Errors ----


def test_error_of_a_handler():
    call = jax.jit(lambda x: jax.ffi.ffi_call("Fail", struct())(x, message="zu groß"))
    with pytest.raises(jax.errors.JaxRuntimeError, match="OUT_OF_RANGE.*'Fail': zu groß"):
        call(1.0).block_until_ready()
    # The next program runs.
    np.testing.assert_allclose(rms_norm(jnp.asarray(X)), reference(X), rtol=1e-5)


def test_unknown_target():
    call = jax.jit(lambda x: jax.ffi.ffi_call("never_seen", struct())(x))
    with pytest.raises(
        jax.errors.JaxRuntimeError,
        match=r"NOT_FOUND.*no handler is registered for the custom call 'never_seen': "
        r"jax.ffi.register_ffi_target\('never_seen', ..., platform='alula'\)",
    ):
        call(1.0)
    jax.ffi.register_ffi_target("never_seen", capsule("AddOne"), platform="alula")
    with pytest.raises(jax.errors.JaxRuntimeError, match="x and y are not one array"):
        call(1.0).block_until_ready()


def test_wrong_call_of_a_handler():
    call = jax.jit(lambda x: jax.ffi.ffi_call("RmsNorm", struct(2))(x))
    with pytest.raises(jax.errors.JaxRuntimeError, match="INVALID_ARGUMENT.*attributes"):
        call(np.ones(2, np.float32)).block_until_ready()


def test_version_of_a_handler():
    with pytest.raises(ValueError, match=r"is made for version 0.99 of XLA's FFI, versions 0.1 to"):
        jax.ffi.register_ffi_target("future", capsule("FromTheFuture"), platform="alula")
    with pytest.raises(jax.errors.JaxRuntimeError, match="'future' for platform 'alula' is made"):
        jax.jit(lambda x: jax.ffi.ffi_call("future", struct())(x))(1.0)


def test_other_registrations():
    # The same again is nothing new; another function is not taken.
    jax.ffi.register_ffi_target("Reverse", capsule("Reverse"), platform="alula")
    with pytest.raises(ValueError, match="'Reverse' .*is registered already"):
        jax.ffi.register_ffi_target("Reverse", capsule("AddOne"), platform="alula")
    with pytest.raises(NotImplementedError, match="only handlers of XLA's FFI"):
        jax.ffi.register_ffi_target("old", capsule("Reverse"), platform="alula", api_version=0)
    with pytest.raises(ValueError, match="the compiler's own"):
        jax.ffi.register_ffi_target("alula.mine", capsule("Reverse"), platform="alula")
    with pytest.raises(ValueError, match="stages"):
        jax.ffi.register_ffi_target("some", {"run": capsule("Reverse")}, platform="alula")
    with pytest.raises(ValueError, match="no function for the stage execute"):
        jax.ffi.register_ffi_target("some", {"prepare": capsule("StagesPrepare")}, platform="alula")


def test_ours_come_before_those_of_the_cpu():
    jax.ffi.register_ffi_target("which", capsule("RmsNorm"), platform="cpu")
    jax.ffi.register_ffi_target("which", capsule("Reverse"), platform="alula")
    result = jax.jit(jax.ffi.ffi_call("which", struct(6, 5)))(X)
    np.testing.assert_array_equal(result, X[::-1, ::-1])


def test_untyped_calls():
    call = jax.ffi.ffi_call(
        "Reverse", struct(6, 5), custom_call_api_version=2, legacy_backend_config="x"
    )
    with pytest.raises(jax.errors.JaxRuntimeError, match="by api_version 4 alone"):
        jax.jit(call)(X)


# ---- jaxlib's own ----


def test_lapack():
    a = np.random.RandomState(1).randn(3, 7, 7).astype(np.float32)
    lapack._lapack.initialize()
    column_major = (0, 2, 1)
    call = jax.ffi.ffi_call(
        "lapack_sgees_ffi",
        [struct(3, 7, 7), struct(3, 7, 7), struct(3, 7), struct(3, 7)]
        + [struct(3, dtype=np.int32)] * 2,
        input_layouts=[column_major],
        output_layouts=[column_major] * 2 + [None] * 4,
        input_output_aliases={0: 0},
    )
    modes = dict(mode=np.uint8(ord("V")), sort=np.uint8(ord("N")))
    t, q, *_, info = jax.jit(lambda a: call(a, **modes))(a)
    np.testing.assert_array_equal(info, 0)
    np.testing.assert_allclose(q @ t @ q.transpose(0, 2, 1), a, atol=1e-5)
    # XLA:CPU has called the very same function.
    with jax.default_device(CPU):
        theirs = lax.linalg.schur(a)
    np.testing.assert_array_equal(t, theirs[0])
    np.testing.assert_array_equal(q, theirs[1])


# ---- Programs that are kept ----


def run_elsewhere(source, **settings):
    import sys

    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source)],
        env=dict(os.environ, **settings),
        capture_output=True,
        text=True,
    )


def test_exported():
    exported = jax.export.export(
        jax.jit(rms_norm),
        disabled_checks=[jax.export.DisabledSafetyCheck.custom_call("RmsNorm")],
    )(struct(6, 5))
    np.testing.assert_allclose(exported.call(X), reference(X), rtol=1e-5)


def test_cached(tmp_path):
    """A compiled program of another process, which registered the handler."""
    from jax.experimental import serialize_executable

    compiled = jax.jit(rms_norm).lower(X).compile()
    payload, in_tree, out_tree = serialize_executable.serialize(compiled)
    again = serialize_executable.deserialize_and_load(
        payload, in_tree, out_tree, execution_devices=jax.devices()[:1]
    )
    np.testing.assert_allclose(again(X), reference(X), rtol=1e-5)
    (tmp_path / "program").write_bytes(payload)
    ended = run_elsewhere(
        f"""
        import jax
        from jax.experimental import serialize_executable
        payload = open({str(tmp_path / "program")!r}, "rb").read()
        one = jax.jit(lambda x: x).lower(1.0).compile()
        tree = serialize_executable.serialize(one)[1:]
        serialize_executable.deserialize_and_load(
            payload, *tree, execution_devices=jax.devices()[:1]
        )
        """
    )
    assert "'RmsNorm' has no function" in ended.stderr, ended.stderr[-2000:]
    assert "jax.ffi.register_ffi_target" in ended.stderr


def test_registered_before_the_plugin():
    """Handlers and types that came before JAX had looked for plugins."""
    source = f"""
        import ctypes, jax, numpy as np
        library = ctypes.CDLL({HANDLERS._name!r})
        jax.ffi.register_ffi_target("mine", jax.ffi.pycapsule(library.Reverse), platform="PLATFORM")
        x = np.arange(4, dtype=np.float32)
        call = jax.ffi.ffi_call("mine", jax.ShapeDtypeStruct((4,), np.float32))
        np.testing.assert_array_equal(jax.jit(call)(x), x[::-1])
        """
    for platform in ("cpu", "alula"):
        ended = run_elsewhere(source.replace("PLATFORM", platform))
        assert ended.returncode == 0, ended.stderr[-2000:]


def test_lapack_in_a_process_that_lowered_nothing(tmp_path):
    """SciPy's functions are found when the program is loaded."""
    from jax.experimental import serialize_executable

    a = np.random.RandomState(2).randn(6, 6).astype(np.float32)
    compiled = jax.jit(lax.linalg.schur).lower(a).compile()
    assert "lapack_sgees_ffi" in compiled.as_text()
    expected = compiled(a)
    payload, in_tree, out_tree = serialize_executable.serialize(compiled)
    np.save(tmp_path / "a.npy", a)
    (tmp_path / "program").write_bytes(payload)
    ended = run_elsewhere(
        f"""
        import jax, numpy as np
        from jax.experimental import serialize_executable
        payload = open({str(tmp_path / "program")!r}, "rb").read()
        one = jax.jit(lambda x: [x, x]).lower(1.0).compile()
        tree = serialize_executable.serialize(one)[1:]
        program = serialize_executable.deserialize_and_load(
            payload, *tree, execution_devices=jax.devices()[:1]
        )
        t, q = program(np.load({str(tmp_path / "a.npy")!r}))
        np.save({str(tmp_path / "t.npy")!r}, t)
        """
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    np.testing.assert_array_equal(np.load(tmp_path / "t.npy"), expected[0])


# ---- Schur forms ----


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (100, 100), (3, 20, 20)], ids=repr)
def test_schur_forms_are_those_of_the_cpu(dtype, shape):
    random = np.random.RandomState(3)
    a = random.randn(*shape).astype(dtype)
    if a.dtype.kind == "c":
        a += np.array(1j, dtype) * random.randn(*shape).astype(a.real.dtype)
    with jax.enable_x64(True):
        ours = jax.jit(lax.linalg.schur)(a)
        with jax.default_device(CPU):
            theirs = jax.jit(lax.linalg.schur)(a)
    for mine, other in zip(ours, theirs):
        assert mine.dtype == dtype
        np.testing.assert_array_equal(mine, other)


def test_schur_forms_that_are_ours():
    def lower(shape, dtype, **options):
        return jax.jit(lax.linalg.schur).lower(struct(*shape, dtype=dtype)).as_text()

    texts = [
        lower((101, 101), "float32"),
        lower((101, 101), "complex64"),
        jax.export.export(jax.jit(lax.linalg.schur))(struct(8, 8)).mlir_module(),
    ]
    for text in texts:
        assert "alula.schur" in text and "lapack" not in text


def test_schur_forms_of_programs_without_python():
    import alula

    a = np.random.RandomState(4).randn(20, 20).astype(np.float32)
    t, q = alula.compile(lax.linalg.schur, a)(a)
    np.testing.assert_allclose(q @ t @ q.T, a, atol=1e-5)
    # jit's lowering of the same function is not taken for it, nor this one for jit's.
    assert "lapack" in jax.jit(lax.linalg.schur).lower(a).as_text()
