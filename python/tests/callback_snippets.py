"""Programs that call Python. test_snippets.py runs this file."""

import gc

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import checkify, io_callback
from jax_plugins.alula import callbacks

F3 = jax.ShapeDtypeStruct((3,), jnp.float32)


def test_pure_callback():
    f = jax.jit(lambda x: jax.pure_callback(np.sin, F3, x) + 1)
    np.testing.assert_allclose(f(jnp.arange(3.0)), np.sin(np.arange(3)) + 1, rtol=1e-6)


def test_pure_callback_in_vmap():
    f = lambda x: jax.pure_callback(np.cumsum, F3, x, vmap_method="expand_dims")
    x = jnp.ones((2, 3))
    np.testing.assert_array_equal(
        jax.vmap(lambda x: jax.pure_callback(np.cumsum, F3, x, vmap_method="sequential"))(x),
        [[1, 2, 3]] * 2,
    )
    np.testing.assert_array_equal(f(x[0]), [1, 2, 3])


def test_types():
    for dtype in ["bool", "int4", "uint8", "int32", "bfloat16", "complex64", "float8_e4m3fn"]:
        x = jnp.array([1, 0, 1]).astype(dtype)
        struct = jax.ShapeDtypeStruct((3,), x.dtype)
        seen = []

        def call(value):
            seen.append(value.dtype)
            return value

        result = jax.jit(lambda x: jax.pure_callback(call, struct, x))(x)
        assert result.dtype == x.dtype
        np.testing.assert_array_equal(np.asarray(result), np.asarray(x))


def test_empty_arrays():
    struct = jax.ShapeDtypeStruct((0, 3), jnp.float32)
    result = jax.jit(lambda x: jax.pure_callback(lambda v: v, struct, x))(jnp.zeros((0, 3)))
    assert result.shape == (0, 3)


def test_an_exception_arrives():
    def fail(value):
        raise ValueError("this is the reason")

    f = jax.jit(lambda x: jax.pure_callback(fail, F3, x))
    with pytest.raises(jax.errors.JaxRuntimeError, match="ValueError: this is the reason"):
        f(jnp.ones(3)).block_until_ready()


def test_a_wrong_result_is_an_exception():
    f = jax.jit(lambda x: jax.pure_callback(lambda v: v[:2], F3, x))
    with pytest.raises(jax.errors.JaxRuntimeError, match="Incorrect output shape"):
        f(jnp.ones(3)).block_until_ready()


def test_debug_print(capsys):
    jax.jit(lambda x: jax.debug.print("x is {x}", x=x))(jnp.arange(3))
    jax.effects_barrier()
    assert capsys.readouterr().out == "x is [0 1 2]\n"


def test_ordered_effects_keep_their_order():
    seen = []

    def f(x):
        jax.debug.callback(lambda v: seen.append(int(v)), x[0], ordered=True)
        jax.debug.callback(lambda v: seen.append(int(v) + 10), x[0], ordered=True)
        return x + 1

    x = jnp.zeros(3)
    for _ in range(5):
        x = jax.jit(f)(x)
    jax.effects_barrier()
    assert seen == [0, 10, 1, 11, 2, 12, 3, 13, 4, 14]


def test_io_callback():
    count = []

    def next_number(x):
        count.append(x)
        return np.full(3, len(count), np.float32)

    f = jax.jit(lambda x: io_callback(next_number, F3, x, ordered=True))
    f(jnp.ones(3))
    np.testing.assert_array_equal(f(jnp.ones(3)), [2, 2, 2])


def test_a_callback_may_run_programs():
    def inner(value):
        return np.asarray(jax.jit(lambda v: v * 2)(value))

    f = jax.jit(lambda x: jax.pure_callback(inner, F3, x))
    np.testing.assert_array_equal(f(jnp.ones(3)), [2, 2, 2])


def test_functions_go_with_their_programs():
    def f(x):
        return jax.pure_callback(lambda v: v + 1, F3, x)

    before = len(callbacks._functions)
    for _ in range(20):
        jax.jit(lambda x: f(x))(jnp.ones(3)).block_until_ready()
    jax.clear_caches()
    gc.collect()
    jax.jit(lambda x: f(x))(jnp.ones(3)).block_until_ready()
    assert len(callbacks._functions) < before + 10


def checked(x):
    checkify.check(jnp.all(x > 0), "must be positive: {x}", x=x.min())
    checkify.debug_check(jnp.all(x < 9), "too large")
    return x + 1


def test_a_check_that_nobody_functionalized():
    x = jnp.ones(3)
    with pytest.raises(ValueError, match="checkify.check which was not functionalized"):
        jax.jit(checked)(x)
    # The message of CPU, word for word.
    with pytest.raises(ValueError) as on_cpu:
        jax.jit(checked).trace(x).lower(lowering_platforms=("cpu",))
    with pytest.raises(ValueError) as ours:
        jax.jit(checked).trace(x).lower(lowering_platforms=("alula",))
    assert str(ours.value) == str(on_cpu.value)


def test_checks():
    error, y = jax.jit(checkify.checkify(checked))(jnp.ones(3))
    assert error.get() is None
    np.testing.assert_array_equal(y, 2 * np.ones(3))
    error, _ = jax.jit(checkify.checkify(checked))(-jnp.ones(3))
    assert "must be positive: -1.0" in error.get()


def test_checks_that_fail_when_the_program_runs():
    with jax._src.config.xla_runtime_errors(True):
        np.testing.assert_array_equal(jax.jit(checked)(jnp.ones(3)), 2 * np.ones(3))
        with pytest.raises(jax.errors.JaxRuntimeError, match="must be positive: -1.0"):
            jax.block_until_ready(jax.jit(checked)(-jnp.ones(3)))
