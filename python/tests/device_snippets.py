"""Programs over the devices of one process. test_snippets.py runs this file,
with two devices."""

import jax
import jax.experimental
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

X = np.arange(24, dtype=np.float32).reshape(4, 6)


@pytest.fixture(scope="module")
def mesh():
    assert len(jax.devices()) == 2
    return jax.make_mesh((2,), ("a",), axis_types=(jax.sharding.AxisType.Auto,))


def over(mesh, f, in_specs=P("a"), out_specs=P("a")):
    return jax.jit(
        jax.shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=False)
    )


def test_sums(mesh):
    result = over(mesh, lambda x: lax.psum(x, "a"), out_specs=P())(X)
    np.testing.assert_array_equal(result, X[:2] + X[2:])
    result = over(mesh, lambda x: lax.pmax(x, "a"), out_specs=P())(X)
    np.testing.assert_array_equal(result, X[2:])
    result = over(mesh, lambda x: lax.psum_scatter(x, "a", tiled=True))(X)
    np.testing.assert_array_equal(result, X[:2] + X[2:])


def test_gather(mesh):
    result = over(mesh, lambda x: lax.all_gather(x, "a", axis=1, tiled=True), out_specs=P())(X)
    np.testing.assert_array_equal(result, np.concatenate([X[:2], X[2:]], 1))


def test_all_to_all(mesh):
    result = over(mesh, lambda x: lax.all_to_all(x, "a", 1, 0, tiled=True))(X)
    pieces = [np.concatenate([X[:2, s], X[2:, s]]) for s in (slice(0, 3), slice(3, 6))]
    np.testing.assert_array_equal(result, np.concatenate(pieces))


def test_sums_of_types(mesh):
    """Some by name, some by a kernel on what was gathered."""
    sum_all = over(mesh, lambda x: lax.psum(x, "a"), out_specs=P())
    scatter = over(mesh, lambda x: lax.psum_scatter(x, "a", scatter_dimension=1, tiled=True))
    for name in "int4 uint8 int32 bfloat16 float16 complex64".split():
        x = jnp.asarray(X % 3).astype(name)
        wanted = x[:2] + x[2:]
        assert sum_all(x).dtype == wanted.dtype
        np.testing.assert_array_equal(np.asarray(sum_all(x)), np.asarray(wanted))
        halves = jnp.concatenate([wanted[:, :3], wanted[:, 3:]])
        np.testing.assert_array_equal(np.asarray(scatter(x)), np.asarray(halves))


def test_floats_of_few_bits(mesh):
    """Their types stand in the program as MLIR's own, beside StableHLO's."""
    names = [n for n in dir(jnp) if n.startswith("float8") or n.startswith("float4")]
    assert len(names) >= 9
    for name in names:
        x = (jnp.arange(8) % 3 + 1).astype(name)
        turned = over(mesh, lambda x: x[::-1])(x)
        wanted = np.asarray(x).reshape(2, 4)[:, ::-1].reshape(8)
        np.testing.assert_array_equal(np.asarray(turned), wanted, name)


def test_effects_in_order(mesh):
    """A token goes into the part for each device, and comes out of it."""
    seen = []

    def part(x):
        jax.experimental.io_callback(lambda: seen.append(1), (), ordered=True)
        return x + 1

    np.testing.assert_array_equal(over(mesh, part)(X), X + 1)
    jax.effects_barrier()
    assert seen


def test_kernels_run_while_arrays_are_on_their_way(mesh):
    def f(x):
        first, second = lax.psum(x, "a"), lax.ppermute(x + 1, "a", [(0, 1), (1, 0)])
        return first * jnp.sin(x) @ x.T + second @ x.T

    wanted = [
        (X[:2] + X[2:]) * np.sin(x) @ x.T + (y + 1) @ x.T
        for x, y in ((X[:2], X[2:]), (X[2:], X[:2]))
    ]
    np.testing.assert_allclose(over(mesh, f)(X), np.concatenate(wanted), rtol=1e-5)


def test_permute(mesh):
    result = over(mesh, lambda x: lax.ppermute(x, "a", [(0, 1)]))(X)
    np.testing.assert_array_equal(result, np.concatenate([np.zeros((2, 6)), X[:2]]))


def test_numbers_of_devices(mesh):
    result = over(mesh, lambda x: x * 0 + lax.axis_index("a"))(X)
    np.testing.assert_array_equal(result[:, 0], [0, 0, 1, 1])


def test_loops_with_collectives(mesh):
    def f(x):
        return lax.fori_loop(0, 5, lambda i, x: lax.pmean(x, "a") + i, x)

    np.testing.assert_allclose(over(mesh, f)(X), np.tile((X[:2] + X[2:]) / 2 + 10, (2, 1)))


def test_what_is_outside(mesh):
    """The partitioning is ours."""
    x = jax.device_put(X, NamedSharding(mesh, P("a")))
    product = jax.jit(lambda x: x @ x.T)(x)
    np.testing.assert_array_equal(product, X @ X.T)
    columns = jax.jit(lambda x: x * 2, out_shardings=NamedSharding(mesh, P(None, "a")))(x)
    assert columns.sharding.spec == P(None, "a")
    assert columns.addressable_shards[0].data.shape == (4, 3)
    np.testing.assert_array_equal(columns, X * 2)
    inner = over(mesh, lambda x: lax.psum(x, "a"), out_specs=P())
    np.testing.assert_array_equal(jax.jit(lambda x: inner(x + 1) * 2)(x), (X[:2] + X[2:] + 2) * 2)


def test_results_stay_where_they_are(mesh):
    result = jax.jit(over(mesh, jnp.sin))(X)
    assert result.sharding.spec == P("a")
    assert [shard.data.shape for shard in result.addressable_shards] == [(2, 6)] * 2


def test_gradients(mesh):
    def loss(x):
        return over(mesh, lambda x: lax.psum(jnp.sum(x**2), "a"), out_specs=P())(x)

    np.testing.assert_array_equal(jax.grad(loss)(X), 2 * X)


def test_pmap():
    result = jax.pmap(lambda x: lax.psum(x, "i"), axis_name="i")(np.arange(2.0))
    np.testing.assert_array_equal(result, [1, 1])


def test_donation(mesh):
    x = jax.device_put(X, NamedSharding(mesh, P("a")))
    f = jax.jit(over(mesh, lambda x: x + lax.psum(x, "a")), donate_argnums=0)
    np.testing.assert_array_equal(f(x), X + np.tile(X[:2] + X[2:], (2, 1)))
    assert x.is_deleted()


def test_as_text_is_the_program_of_a_device(mesh):
    compiled = over(mesh, lambda x: lax.psum(x, "a"), out_specs=P()).lower(X).compile()
    text = compiled.as_text()
    assert "all-reduce" in text and "f32[2,6]" in text


def test_nobody_waits_for_a_device_that_failed(mesh):
    def check(x):
        if x[0, 0] > 0:
            raise ValueError("too large")
        return x

    def f(x):
        x = jax.pure_callback(check, jax.ShapeDtypeStruct((2, 6), jnp.float32), x)
        return lax.psum(x, "a")

    with pytest.raises(jax.errors.JaxRuntimeError, match="too large"):
        over(mesh, f, out_specs=P())(X).block_until_ready()
    np.testing.assert_array_equal(over(mesh, f, out_specs=P())(X * 0), X[:2] * 0)


def test_a_callback_may_run_programs_over_all_devices(mesh):
    inner = over(mesh, lambda x: lax.psum(x, "a"), out_specs=P())

    def call(x):
        return np.asarray(inner(X))[0, :2] + x

    struct = jax.ShapeDtypeStruct((2,), jnp.float32)
    result = jax.jit(lambda x: jax.pure_callback(call, struct, x))(jnp.ones(2))
    np.testing.assert_array_equal(result, X[0, :2] + X[2, :2] + 1)


def test_executables_say_how_their_arrays_are_divided(mesh):
    from jax._src.lib import xla_client

    def spell(shardings):
        return [repr(xla_client.HloSharding.from_proto(s)) for s in shardings]

    split, whole = NamedSharding(mesh, P("a")), NamedSharding(mesh, P())
    columns = NamedSharding(mesh, P(None, "a"))
    f = jax.jit(
        lambda x, y: (x + 1, y, x.sum()),
        in_shardings=(split, columns),
        out_shardings=(columns, split, whole),
    )
    compiled = f.lower(X, X).compile()
    executable = compiled.runtime_executable()
    rows_text, columns_text = "{devices=[2,1]0,1}", "{devices=[1,2]0,1}"

    def check(executable):
        assert spell(executable.get_parameter_shardings()) == [rows_text, columns_text]
        assert spell(executable.get_output_shardings()) == [
            columns_text,
            rows_text,
            "{replicated}",
        ]

    check(executable)
    assert compiled.output_shardings == (columns, split, whole)
    client = jax.devices()[0].client
    devices = tuple(jax.devices())
    check(client.deserialize_executable(executable.serialize(), devices))


def test_programs_for_one_device_say_nothing_of_division():
    compiled = jax.jit(lambda x: x + 1).lower(X).compile()
    assert compiled.runtime_executable().get_output_shardings() is None
    assert compiled.output_shardings == jax.sharding.SingleDeviceSharding(jax.devices()[0])
