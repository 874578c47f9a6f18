"""Snippets of JAX's ahead-of-time path with what they give. test_snippets.py
runs this file with JAX_PLATFORMS=alula,cpu and two devices."""

import os
import pickle
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import serialize_executable
from jax.experimental.layout import Format, Layout
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

I32 = jax.ShapeDtypeStruct((), jnp.dtype("int32"))


def f(x, y):
    return 2 * x + y


def compile_f():
    return jax.jit(f).lower(3, 4).compile()


def compile_i32():
    return jax.jit(f).lower(I32, I32).compile()


# The core example.


def test_lowered_text():
    assert jax.jit(f).lower(3, 4).as_text().strip() == (
        "module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {\n"
        "  func.func public @main(%arg0: tensor<i32>, %arg1: tensor<i32>) -> "
        '(tensor<i32> {jax.result_info = "result"}) {\n'
        "    %c = stablehlo.constant dense<2> : tensor<i32>\n"
        "    %0 = stablehlo.multiply %c, %arg0 : tensor<i32>\n"
        "    %1 = stablehlo.add %0, %arg1 : tensor<i32>\n"
        "    return %1 : tensor<i32>\n"
        "  }\n"
        "}"
    )


def test_cost_analysis():
    costs = compile_f().cost_analysis()
    assert costs["flops"] == 2
    assert costs["bytes accessed"] == 12
    assert costs["bytes accessed0{}"] == costs["bytes accessed1{}"] == 4
    assert costs["bytes accessedout{}"] == 4


def test_call_keeps_the_weak_type():
    assert repr(compile_f()(3, 4)) == "Array(10, dtype=int32, weak_type=True)"
    assert repr(compile_i32()(3, 4)) == "Array(10, dtype=int32)"


def test_call_with_other_shapes():
    with pytest.raises(TypeError) as error:
        compile_i32()(jnp.arange(3), jnp.arange(3))
    assert "Argument 'x' compiled with int32[] and called with int32[3]" in str(error.value)
    assert "Argument 'y' compiled with int32[] and called with int32[3]" in str(error.value)


def check_other_types(value):
    with pytest.raises(TypeError) as error:
        compile_i32()(value, value)
    for name in "xy":
        assert f"Argument '{name}' compiled with int32[] and called with float32[]" in str(
            error.value
        )


def test_call_with_other_types():
    check_other_types(jnp.float32(72.0))
    check_other_types(3.0)


def test_call_with_wider_numpy_numbers():
    assert repr(compile_i32()(np.int64(3), np.int64(4))) == "Array(10, dtype=int32)"


def test_many_mismatches():
    many = jax.jit(lambda *a: sum(a)).lower(*[I32] * 7).compile()
    with pytest.raises(TypeError, match="The first 5 of 7 mismatches are:"):
        many(*[1.0] * 7)


def check_structure(*arguments, **keywords):
    with pytest.raises(TypeError, match="Function compiled with input pytree does not match"):
        compile_i32()(*arguments, **keywords)


def test_other_structures():
    check_structure(1)
    check_structure(x=1, y=2)
    check_structure([1], 2)


def test_text_argument():
    with pytest.raises(TypeError, match="of type <class 'str'> is not a valid JAX type"):
        compile_i32()("a", 1)


def test_unused_arguments_are_checked():
    compiled = jax.jit(lambda x, y: x).lower(I32, I32).compile()
    with pytest.raises(TypeError, match="Argument 'y' compiled with int32"):
        compiled(1, 2.0)


def test_x64_belongs_to_the_compilation():
    with jax.enable_x64(True):
        compiled = jax.jit(lambda x: x + 1).lower(3.0).compile()
        assert compiled(3.0) == 4.0
    with pytest.raises(TypeError, match=r"compiled with float64\[\] and called with float32\[\]"):
        compiled(3.0)


def test_no_arguments_or_results():
    assert jax.jit(lambda: 3).lower().compile()() == 3
    assert jax.jit(lambda a: None).lower(1).compile()(1) is None


def test_trees_and_keywords():
    def g(p, *, scale):
        return {"a": p["a"] * scale, "b": (p["b"][0], None)}

    p = {"a": jnp.ones(2), "b": (jnp.zeros(3), None)}
    lowered = jax.jit(g).lower(p, scale=2.0)
    result = lowered.compile()(p, scale=2.0)
    np.testing.assert_array_equal(result["a"], [2, 2])
    np.testing.assert_array_equal(result["b"][0], [0, 0, 0])
    assert result["b"][1] is None
    assert "result['a']" in lowered.as_text() and "result['b'][0]" in lowered.as_text()


# Static arguments.


def test_static_arguments():
    lowered = jax.jit(f, static_argnums=0).lower(7, 8)
    assert "stablehlo.constant dense<14>" in lowered.as_text()
    assert lowered.as_text().count("%arg") == 2
    assert repr(lowered.compile()(5)) == "Array(19, dtype=int32, weak_type=True)"
    with pytest.raises(TypeError, match="input pytree does not match"):
        lowered.compile()(7, 5)
    assert repr(jax.jit(f, static_argnums=0).lower(10, I32).compile()(5)) == (
        "Array(25, dtype=int32)"
    )


def test_static_shapes_are_no_values():
    with pytest.raises(TypeError, match="unsupported operand type"):
        jax.jit(f, static_argnums=0).lower(I32, I32)
    with pytest.raises(ValueError, match="Non-hashable static arguments"):
        jax.jit(f, static_argnums=0).lower([1], 2)


def test_static_names():
    traced = jax.jit(lambda x, n: x * n, static_argnames="n").trace(1.0, n=3)
    assert traced.lower().compile()(2.0) == 6.0


# No transformations of compiled functions.


def g(x):
    assert x.shape == (3, 2)
    return x @ jnp.ones(2)


def make_z(*shape):
    return jnp.arange(int(np.prod(shape))).reshape(shape)


def test_vmap_of_jit():
    np.testing.assert_array_equal(
        jax.vmap(jax.jit(g))(make_z(4, 3, 2)),
        np.arange(24).reshape(4, 3, 2).sum(-1).astype("f"),
    )


def test_transforming_a_compiled_function():
    compiled = jax.jit(g).lower(make_z(3, 2)).compile()
    words = "Cannot apply JAX transformations to a function lowered and compiled"
    with pytest.raises(TypeError, match=words):
        jax.vmap(compiled)(make_z(4, 3, 2))
    with pytest.raises(TypeError, match=words):
        jax.jit(compiled)(make_z(3, 2))
    with pytest.raises(TypeError, match=words):
        jax.make_jaxpr(compiled)(make_z(3, 2))
    h = jax.jit(lambda x: (x * x).sum()).lower(jnp.ones(3)).compile()
    with pytest.raises(TypeError, match=words):
        jax.grad(h)(jnp.ones(3))


def test_compiled_then_jit():
    compiled = jax.jit(g).lower(make_z(3, 2)).compile()
    result = jax.jit(lambda x: x + 1)(compiled(make_z(3, 2)))
    np.testing.assert_array_equal(result, [2, 6, 10])


def test_transformed_functions_have_no_lower():
    with pytest.raises(AttributeError, match="has no attribute 'lower'"):
        jax.vmap(g).lower(1)


# Inspection and analyses.


def test_jaxpr():
    assert str(jax.jit(f).trace(3, 4).jaxpr) == str(jax.make_jaxpr(f)(3, 4))


def test_public_attributes():
    lowered = jax.jit(f).lower(3, 4)
    for name in "args_info as_text compile compiler_ir cost_analysis donate_argnums".split():
        assert hasattr(lowered, name)
    compiled = lowered.compile()
    for (
        name
    ) in "as_text call cost_analysis memory_analysis output_formats runtime_executable".split():
        assert hasattr(compiled, name)


def test_other_texts():
    lowered = jax.jit(f).lower(3, 4)
    assert lowered.as_text(dialect="hlo").startswith("HloModule jit_f")
    with pytest.raises(ValueError, match="unknown dialect: xyz"):
        lowered.as_text("xyz")
    assert "loc(" in lowered.as_text(debug_info=True)
    assert lowered.compiler_ir() is not None
    assert lowered.compiler_ir("hlo").as_serialized_hlo_module_proto()


def test_cost_analysis_of_the_lowered_form_is_none():
    # JAX asks no plugin.
    assert jax.jit(f).lower(3, 4).cost_analysis() is None


def test_cost_of_a_product():
    a, b = jnp.ones((64, 32)), jnp.ones((32, 16))
    costs = jax.jit(jnp.dot).lower(a, b).compile().cost_analysis()
    assert costs["flops"] == 65536
    assert costs["bytes accessed"] == 14336


def test_cost_of_a_sum():
    costs = jax.jit(lambda a: jnp.exp(jnp.sin(a)).sum()).lower(jnp.ones(1000)).compile()
    costs = costs.cost_analysis()
    assert costs["flops"] == 999
    assert costs["transcendentals"] == 2000
    assert costs["bytes accessed"] == 4004


def test_cost_of_residuals():
    # Sums that two read are stored by the product that makes them, also those that a
    # function makes. Each layer reads x twice and w, and writes; the last sum is not stored.
    def layers(x, w):
        for _ in range(3):
            x = jax.nn.relu(x @ w + x)
        return x.sum()

    x = jnp.ones((64, 64))
    costs = jax.jit(layers).lower(x, x).compile().cost_analysis()
    assert costs["bytes accessed"] == (4 + 4 + 5) * 64 * 64 * 4 + 4
    assert costs["bytes accessed0{}"] == 2 * 64 * 64 * 4
    assert costs["bytes accessed1{}"] == 3 * 64 * 64 * 4


def test_cost_of_what_is_cheaper_computed_again():
    # A softmax reads its argument three times.
    costs = jax.jit(jax.nn.softmax).lower(jnp.ones((8, 1000))).compile().cost_analysis()
    assert costs["bytes accessed"] == pytest.approx(4 * 8 * 1000 * 4, rel=0.01)


def test_cost_of_a_loop():
    # Ten times the body: the trip count is written in the program.
    def loop(x):
        return jax.lax.scan(lambda c, _: (c @ x, None), x, None, length=10)[0]

    costs = jax.jit(loop).lower(jnp.ones((16, 16))).compile().cost_analysis()
    assert 81920 <= costs["flops"] < 83000


def test_memory_analysis():
    stats = compile_f().memory_analysis()
    assert stats.argument_size_in_bytes == 8
    assert stats.output_size_in_bytes == 4
    assert stats.alias_size_in_bytes == 0
    assert stats.temp_size_in_bytes == 0
    a, b = jnp.ones((64, 32)), jnp.ones((32, 16))
    stats = jax.jit(jnp.dot).lower(a, b).compile().memory_analysis()
    assert (stats.argument_size_in_bytes, stats.output_size_in_bytes) == (10240, 4096)


def test_compiled_text():
    text = compile_f().as_text()
    assert text.startswith("HloModule jit_f")
    assert "(s32[], s32[])->s32[]" in text


def test_runtime_executable():
    runtime = compile_f().runtime_executable()
    assert runtime.fingerprint.isdigit()
    assert runtime.fingerprint == compile_f().runtime_executable().fingerprint
    assert runtime.size_of_generated_code_in_bytes() > 0
    assert runtime.get_output_memory_kinds() == [["device"]]
    assert runtime.get_parameter_shardings() is None
    assert runtime.get_output_shardings() is None
    assert [device.id for device in runtime.local_devices()] == [0]


def test_execute_sharded():
    compiled = jax.jit(lambda a, b: a + b).lower(jnp.ones(2), jnp.ones(2)).compile()
    arrays = [jnp.ones(2), jnp.ones(2)]
    result = compiled.runtime_executable().execute_sharded(arrays)
    ((array,),) = result.disassemble_into_single_device_arrays()
    np.testing.assert_array_equal(array, [2, 2])


def test_shardings_and_formats():
    compiled = jax.jit(lambda a: a + 1).lower(jnp.ones((2, 3))).compile()
    (sharding,), _ = compiled.input_shardings
    assert isinstance(sharding, SingleDeviceSharding)
    assert sharding.memory_kind == "device"
    (format,), _ = compiled.input_formats
    assert format.layout.major_to_minor == (0, 1)
    assert compiled.output_formats.layout.major_to_minor == (0, 1)


def test_compile_options():
    lowered = jax.jit(f).lower(3, 4)
    words = "INVALID_ARGUMENT: No such compile option: 'bogus_option'"
    with pytest.raises(jax.errors.JaxRuntimeError, match=words):
        lowered.compile(compiler_options={"bogus_option": True})
    words = (
        "INVALID_ARGUMENT: While setting option xla_cpu_enable_fast_math, 'zzz' is not a valid "
        "bool value."
    )
    with pytest.raises(jax.errors.JaxRuntimeError, match=words):
        lowered.compile(compiler_options={"xla_cpu_enable_fast_math": "zzz"})
    assert lowered.compile(compiler_options={"alula_targets": "cpu:x86-64-v3,cpu:host"})(3, 4) == 10


def test_accuracy():
    """Products of f32 become ones of bf16 by an option, or as the program asks for it."""
    x = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)
    lowered = jax.jit(lambda a: a @ a).lower(x)
    rounded = np.asarray(lowered.compile(compiler_options={"alula_accuracy": "bf16-products"})(x))
    with jax.default_matmul_precision("BF16_BF16_F32"):
        asked = np.asarray(jax.jit(lambda a: a @ a)(x))
    np.testing.assert_array_equal(rounded, asked)
    narrow = x.astype(jax.numpy.bfloat16).astype(np.float64)
    np.testing.assert_allclose(rounded, narrow @ narrow, rtol=1e-5, atol=1e-5)
    exact = x.astype(np.float64) @ x
    assert np.abs(rounded - exact).max() > 1e-3
    np.testing.assert_allclose(lowered.compile()(x), exact, rtol=1e-5, atol=1e-5)
    words = "--accuracy: must be 'bf16-products', 'tf32-products' or 'i8-activations': is 'f16'"
    with pytest.raises(jax.errors.JaxRuntimeError, match=words):
        lowered.compile(compiler_options={"alula_accuracy": "f16"})


def test_several_kinds_of_machines():
    """The device takes the program of its kind, also from bytes."""
    kinds = "cpu:host:cores=64,cpu:host:cores=2:l2_bytes=64K:panel_bytes=0"
    x = np.arange(64 * 48, dtype=np.float32).reshape(64, 48)
    lowered = jax.jit(lambda a: a @ a.T + 1).lower(x)
    compiled = lowered.compile(compiler_options={"alula_targets": kinds})
    plain = lowered.compile()
    np.testing.assert_allclose(compiled(x), x @ x.T + 1, rtol=1e-6)
    of_both, of_one = (c.runtime_executable() for c in (compiled, plain))
    assert of_both.fingerprint != of_one.fingerprint
    read = serialize_executable.deserialize_and_load(
        *serialize_executable.serialize(compiled), execution_devices=jax.devices()[:1]
    )
    np.testing.assert_array_equal(read(x), compiled(x))
    assert read.runtime_executable().fingerprint == of_both.fingerprint


# Donation.


def make_adder():
    return jax.jit(lambda s, d: s + d, donate_argnums=0)


def test_donation_is_lowered():
    lowered = make_adder().lower(jnp.ones(8), jnp.ones(8))
    assert "tf.aliasing_output = 0 : i32" in lowered.as_text()
    assert lowered.donate_argnums == (0,)
    assert lowered.args_info[0][0].donated is True
    stats = lowered.compile().memory_analysis()
    sizes = (stats.argument_size_in_bytes, stats.output_size_in_bytes, stats.alias_size_in_bytes)
    assert sizes == (64, 32, 32)


def test_donation_works_in_place():
    s, d = jnp.ones(8) + 0, jnp.ones(8)
    where = s.unsafe_buffer_pointer()
    result = make_adder()(s, d)
    np.testing.assert_array_equal(result, np.full(8, 2))
    assert result.unsafe_buffer_pointer() == where
    assert s.is_deleted() and not d.is_deleted()


def test_using_what_was_donated():
    compiled = make_adder().lower(jnp.ones(8), jnp.ones(8)).compile()
    s = jnp.ones(8) + 0
    compiled(s, jnp.ones(8))
    with pytest.raises(ValueError) as error:
        compiled(s, jnp.ones(8))
    assert str(error.value) == (
        "INVALID_ARGUMENT: Invalid buffer passed to Execute() as argument 0 to replica 0: "
        "INVALID_ARGUMENT: Buffer has been deleted or donated."
    )
    with pytest.raises(RuntimeError, match=r"Array has been deleted with shape=float32\[8\]"):
        np.asarray(s)


def test_donating_twice():
    s = jnp.ones(8) + 0
    with pytest.raises(
        jax.errors.JaxRuntimeError, match="INVALID_ARGUMENT: Attempt to use a buffer"
    ):
        make_adder()(s, s)
    both = jax.jit(lambda s, d: (s + d, s - d), donate_argnums=(0, 1))
    with pytest.raises(jax.errors.JaxRuntimeError, match="Attempt to donate the same buffer twice"):
        both(s, s)


def test_unusable_donation():
    with pytest.warns(UserWarning, match="Some donated buffers were not usable"):
        assert jax.jit(lambda a: a.sum(), donate_argnums=0)(jnp.ones(8) + 0) == 8


def test_numpy_views_outlive_donation():
    s = jnp.arange(4096.0) + 0
    view = np.asarray(s)
    jax.jit(lambda s: s + 1, donate_argnums=0)(s).block_until_ready()
    assert s.is_deleted()
    np.testing.assert_array_equal(view, np.arange(4096.0))


# Serialization.


def run_script(source, path):
    """A fresh process with one device."""
    return subprocess.run(
        [sys.executable, "-c", source, str(path)],
        env=dict(os.environ, ALULA_NUM_DEVICES="1"),
        capture_output=True,
        text=True,
    )


RELOAD = """
import pickle, sys
import jax.numpy as jnp
from jax.experimental import serialize_executable
payload, i, o = pickle.load(open(sys.argv[1], "rb"))
print(serialize_executable.deserialize_and_load(payload, i, o)(jnp.arange(3.0)))
"""


def test_serialize_and_reload(tmp_path):
    compiled = jax.jit(lambda a: a + 1).lower(jnp.ones(3)).compile()
    payload, in_tree, out_tree = serialize_executable.serialize(compiled)
    loaded = serialize_executable.deserialize_and_load(
        payload, in_tree, out_tree, execution_devices=jax.devices()[:1]
    )
    np.testing.assert_array_equal(loaded(jnp.ones(3)), [2, 2, 2])
    (tmp_path / "p").write_bytes(pickle.dumps((payload, in_tree, out_tree)))
    result = run_script(RELOAD, tmp_path / "p")
    assert result.stdout.strip() == "[1. 2. 3.]", result.stderr


def test_damaged_executables():
    compiled = jax.jit(lambda a: a + 1).lower(jnp.ones(3)).compile()
    payload, in_tree, out_tree = serialize_executable.serialize(compiled)
    with pytest.raises((pickle.UnpicklingError, EOFError)):
        serialize_executable.deserialize_and_load(payload[:100], in_tree, out_tree)
    runtime = compiled.runtime_executable()
    client = jax.devices()[0].client
    good = runtime.serialize()
    devices = tuple(jax.devices()[:1])
    for bad, words in (
        (b"garbage", "INVALID_ARGUMENT: Failed to parse"),
        (good[:-1], "its bytes are damaged"),
        (good[:-20] + bytes([good[-20] ^ 1]) + good[-19:], "its bytes are damaged"),
    ):
        with pytest.raises(jax.errors.JaxRuntimeError, match=words):
            client.deserialize_executable(bad, jax._src.lib._jax.DeviceList(devices), None)


def test_nothing_else_pickles():
    lowered = jax.jit(f).lower(3, 4)
    with pytest.raises(TypeError):
        pickle.dumps(lowered)
    with pytest.raises((AttributeError, TypeError, pickle.PicklingError)):
        pickle.dumps(lowered.compile())


CACHED = """
import jax, jax.numpy as jnp, sys
jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
print(jax.jit(lambda a: a * 3)(jnp.ones(3)))
"""


def test_persistent_cache(tmp_path):
    seen = []
    for _ in range(2):
        result = run_script(CACHED, tmp_path)
        assert result.stdout.strip() == "[3. 3. 3.]", result.stderr
        seen.append({name for name in os.listdir(tmp_path) if name.endswith("-cache")})
    assert seen[0] and seen[0] == seen[1]


def test_export():
    pytest.importorskip("flatbuffers")
    exported = jax.export.export(jax.jit(lambda x: jnp.maximum(x, 0) + 1))(
        jax.ShapeDtypeStruct((3,), jnp.float32)
    )
    assert exported.platforms == ("alula",)
    loaded = jax.export.deserialize(exported.serialize())
    np.testing.assert_array_equal(loaded.call(jnp.ones(3)), [2, 2, 2])


def test_export_for_others():
    struct = jax.ShapeDtypeStruct((3,), jnp.float32)
    other = jax.export.export(jax.jit(jnp.cos), platforms=("cuda",))(struct)
    with pytest.raises(ValueError, match="was exported for platforms"):
        jax.jit(other.call)(jnp.ones(3))


def test_export_for_several():
    struct = jax.ShapeDtypeStruct((3,), jnp.float32)
    both = jax.export.export(jax.jit(lambda x: x + 1), platforms=("alula", "cpu"))(struct)
    np.testing.assert_array_equal(both.call(jnp.ones(3)), [2, 2, 2])


def test_export_with_symbolic_sizes():
    (b,) = jax.export.symbolic_shape("b", constraints=["b >= 2"])
    struct = jax.ShapeDtypeStruct((b, 4), jnp.float32)
    exported = jax.export.export(jax.jit(lambda x: x + 1))(struct)
    np.testing.assert_array_equal(exported.call(jnp.ones((3, 4))), np.full((3, 4), 2))
    with pytest.raises(ValueError, match="Expected 'b - 2' to be greater or equal to 0"):
        exported.call(jnp.ones((1, 4)))
    with pytest.raises(ValueError, match="Rank mismatch"):
        exported.call(jnp.ones(4))


# Devices, shardings, layouts.


def test_devices():
    assert [str(device) for device in jax.devices()] == ["AlulaDevice(id=0)", "AlulaDevice(id=1)"]
    device = jax.devices()[0]
    assert device.platform == "alula" and device.device_kind == "cpu"
    statistics = device.memory_stats()
    assert statistics["bytes_limit"] > 0
    # The other device has as much of it.
    assert statistics["bytes_reservable_limit"] == statistics["bytes_limit"] // 2


def test_compiling_for_another_device():
    second = SingleDeviceSharding(jax.devices()[1])
    struct = jax.ShapeDtypeStruct((3,), jnp.float32, sharding=second)
    compiled = jax.jit(lambda a: a + 1).lower(struct).compile()
    result = compiled(np.ones(3, "f"))
    assert result.devices() == {jax.devices()[1]}
    with pytest.raises(ValueError, match="input shardings that disagree"):
        compiled(jax.device_put(np.ones(3, "f"), jax.devices()[0]))


def test_copies_between_devices():
    a = jax.device_put(np.arange(3.0, dtype="f"), jax.devices()[1])
    b = jax.device_put(a, jax.devices()[0])
    assert b.devices() == {jax.devices()[0]}
    np.testing.assert_array_equal(b, [0, 1, 2])


def test_partitioned_programs():
    mesh = Mesh(np.array(jax.devices()), "x")
    sharding = NamedSharding(mesh, PartitionSpec("x"))
    compiled = jax.jit(lambda a: a + 1, in_shardings=sharding).lower(jnp.ones(4)).compile()
    assert compiled.input_shardings[0][0] == sharding
    np.testing.assert_array_equal(compiled(jax.device_put(jnp.ones(4), sharding)), [2] * 4)


def test_automatic_layouts():
    z = jnp.ones((2, 3))
    compiled = jax.jit(lambda a: a + 1, in_shardings=Format(Layout.AUTO)).lower(z).compile()
    assert compiled.input_formats[0][0].layout.major_to_minor == (0, 1)


def test_typed_keys():
    compiled = jax.jit(lambda k: jax.random.normal(k, (2,))).lower(jax.random.key(0)).compile()
    np.testing.assert_allclose(compiled(jax.random.key(1)), [-0.15443718, 0.08470728], rtol=1e-5)
    with pytest.raises(TypeError, match=r"compiled with key<fry>\[\] and called with uint32\[2\]"):
        compiled(jax.random.PRNGKey(1))
