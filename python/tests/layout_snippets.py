"""Layouts other than row-major. test_snippets.py runs this file, with two
devices."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.layout import Format, Layout, with_layout_constraint
from jax.sharding import NamedSharding, SingleDeviceSharding
from jax.sharding import PartitionSpec as P

X = np.arange(24, dtype=np.float32).reshape(4, 6)
COLUMNS = Layout(major_to_minor=(1, 0))
AUTO = Format(Layout.AUTO)


@pytest.fixture(scope="module")
def columns():
    return Format(COLUMNS, SingleDeviceSharding(jax.devices()[0]))


@pytest.fixture(scope="module")
def mesh():
    return jax.make_mesh((2,), ("a",), axis_types=(jax.sharding.AxisType.Auto,))


def order(array_or_format):
    format = getattr(array_or_format, "format", array_or_format)
    return format.layout.major_to_minor


def test_arrays_lie_as_they_are_asked_to(columns):
    assert order(jnp.asarray(X)) == (0, 1)
    x = jax.device_put(X, columns)
    assert order(x) == (1, 0)
    assert x.shape == (4, 6)
    np.testing.assert_array_equal(x, X)
    assert np.asarray(x).strides == (4, 16)
    # And back.
    back = jax.device_put(x, Format(Layout((0, 1)), columns.sharding))
    assert order(back) == (0, 1)
    np.testing.assert_array_equal(back, X)


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.complex64, jnp.bfloat16, jnp.int4, bool])
def test_every_type_has_layouts(columns, dtype):
    x = jax.device_put(X.astype(dtype), columns)
    assert order(x) == (1, 0)
    np.testing.assert_array_equal(x, X.astype(dtype))


@pytest.mark.parametrize("permutation", [(0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
def test_orders_of_three_dimensions(permutation, columns):
    x = np.random.RandomState(0).randn(3, 5, 7).astype(np.float32)
    format = Format(Layout(permutation), columns.sharding)
    put = jax.device_put(x, format)
    assert order(put) == permutation
    np.testing.assert_array_equal(put, x)
    f = jax.jit(lambda a: jnp.sum(a * 2, axis=1), in_shardings=format)
    np.testing.assert_allclose(f(put), (x * 2).sum(1), rtol=1e-6)
    g = jax.jit(lambda a: a + 1, out_shardings=format)
    assert order(g(x)) == permutation
    np.testing.assert_array_equal(g(x), x + 1)


def test_a_program_takes_what_it_is_given(columns):
    f = jax.jit(lambda x: x @ x.T)
    np.testing.assert_array_equal(f(jax.device_put(X, columns)), X @ X.T)
    np.testing.assert_array_equal(f(X), X @ X.T)


def test_explicit_arguments_and_results(columns):
    f = jax.jit(
        lambda x, y: (x * 2, y + 1), in_shardings=(columns, None), out_shardings=(None, columns)
    )
    x, y = jax.device_put(X, columns), jnp.asarray(X)
    compiled = f.lower(x, y).compile()
    assert [order(format) for format in compiled.input_formats[0]] == [(1, 0), (0, 1)]
    assert [order(format) for format in compiled.output_formats] == [(0, 1), (1, 0)]
    doubled, more = compiled(x, y)
    assert (order(doubled), order(more)) == ((0, 1), (1, 0))
    np.testing.assert_array_equal(doubled, X * 2)
    np.testing.assert_array_equal(more, X + 1)


def test_the_compiler_chooses(columns):
    compiled = jax.jit(lambda x: (x * 2).T, in_shardings=AUTO, out_shardings=AUTO)
    compiled = compiled.lower(jax.ShapeDtypeStruct(X.shape, X.dtype)).compile()
    assert order(compiled.input_formats[0][0]) == (0, 1)
    # The transpose moves nothing.
    assert order(compiled.output_formats) == (1, 0)
    out = compiled(X)
    assert out.format == compiled.output_formats
    np.testing.assert_array_equal(out, X.T * 2)

    f = jax.jit(lambda x: with_layout_constraint(x + 1, COLUMNS), out_shardings=AUTO)
    assert order(f(X)) == (1, 0)
    np.testing.assert_array_equal(f(X), X + 1)


def test_another_layout_than_the_compiled_one_is_an_error(columns):
    compiled = jax.jit(lambda x: x + 1).lower(X).compile()
    with pytest.raises(ValueError, match="input layouts that disagree"):
        compiled(jax.device_put(X, columns))


def test_layouts_with_tiles_are_refused_in_words(columns):
    tiles = Format(Layout((1, 0), tiling=((2, 2),)), columns.sharding)
    with pytest.raises(Exception, match="has tiles, which are not implemented"):
        jax.device_put(X, tiles)


def test_donation(columns):
    f = jax.jit(lambda x: x * 2, in_shardings=columns, out_shardings=columns, donate_argnums=0)
    x = jax.device_put(X, columns)
    before = x.unsafe_buffer_pointer()
    out = f(x)
    assert x.is_deleted()
    assert out.unsafe_buffer_pointer() == before
    np.testing.assert_array_equal(out, X * 2)


def test_a_kept_executable_knows_its_layouts(columns):
    from jax.experimental import serialize_executable

    x = jax.device_put(X, columns)
    compiled = jax.jit(lambda x: x + 1, out_shardings=columns).lower(x).compile()
    loaded = serialize_executable.deserialize_and_load(
        *serialize_executable.serialize(compiled), execution_devices=jax.devices()[:1]
    )
    out = loaded(x)
    assert order(out) == (1, 0)
    np.testing.assert_array_equal(out, X + 1)


def test_over_devices(mesh):
    sharding = NamedSharding(mesh, P("a"))
    x = jax.device_put(X, Format(COLUMNS, sharding))
    assert order(x) == (1, 0)
    assert all(order(shard.data) == (1, 0) for shard in x.addressable_shards)
    np.testing.assert_array_equal(x, X)
    double = jax.shard_map(lambda x: x * 2, mesh=mesh, in_specs=P("a"), out_specs=P("a"))
    out = jax.jit(double, out_shardings=Format(COLUMNS, sharding))(x)
    assert order(out) == (1, 0)
    np.testing.assert_array_equal(out, X * 2)
    summed = jax.jit(lambda x: x.sum(0), in_shardings=Format(COLUMNS, sharding))(x)
    np.testing.assert_array_equal(summed, X.sum(0))


def test_copies_between_devices_and_memories(columns):
    x = jax.device_put(X, columns)
    there = jax.device_put(x, jax.devices()[1])
    assert order(there) == (1, 0)
    np.testing.assert_array_equal(there, X)
    host = jax.device_put(x, columns.sharding.with_memory_kind("pinned_host"))
    np.testing.assert_array_equal(host, X)


def test_gradients_and_loops(columns):
    def f(x):
        return jnp.sum(jax.lax.fori_loop(0, 3, lambda i, y: jnp.sin(y) * x, x))

    x = jax.device_put(X / 24, columns)
    np.testing.assert_allclose(jax.jit(jax.grad(f))(x), jax.jit(jax.grad(f))(X / 24), rtol=1e-5)


def test_a_column_major_array_from_dlpack():
    x = np.asfortranarray(X)
    np.testing.assert_array_equal(jnp.from_dlpack(x), X)
