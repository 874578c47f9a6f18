"""JAX on the platform `alula_cuda`, with two devices that are interpreted. Each test
shows itself in test_jax_on_cuda.py."""

import ctypes

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import NamedSharding, PartitionSpec


def make_mesh():
    return jax.sharding.Mesh(np.array(jax.devices()), ("d",))


def on_host():
    return jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")


def test_devices():
    devices = jax.devices()
    assert len(devices) == 2
    assert {device.platform for device in devices} == {"alula_cuda"}
    assert devices[0].device_kind == "cuda"
    # What is the host's is not said to be a GPU's.
    assert "bytes_limit" not in devices[0].memory_stats()


def test_compile_and_execute():
    x = np.random.default_rng(0).normal(size=(32, 48)).astype(np.float32)
    got = jax.jit(lambda x: jax.nn.softmax(x @ x.T))(x)
    assert got.devices() == {jax.devices()[0]}
    wide = x.astype(np.float64)
    scores = np.exp(wide @ wide.T - (wide @ wide.T).max(-1, keepdims=True))
    np.testing.assert_allclose(got, scores / scores.sum(-1, keepdims=True), rtol=1e-4, atol=1e-6)


def test_programs_hold_ptx():
    compiled = jax.jit(lambda x: x + 1).lower(jnp.arange(3.0)).compile()
    assert b".target sm_80" in compiled.runtime_executable().serialize()


def test_a_kept_executable():
    from jax.experimental import serialize_executable

    kept = serialize_executable.serialize(jax.jit(lambda x: x * 2).lower(jnp.ones(3)).compile())
    loaded = serialize_executable.deserialize_and_load(*kept, execution_devices=jax.devices()[:1])
    np.testing.assert_array_equal(loaded(jnp.ones(3)), [2, 2, 2])


def test_gradient_and_loop():
    def f(x):
        return jax.lax.fori_loop(0, 5, lambda i, y: jnp.sin(y) + i * x, x).sum()

    x = jnp.linspace(0.0, 1.0, 7)
    step = 1e-2
    slope = (f(x + step) - f(x - step)) / (2 * step)
    np.testing.assert_allclose(jax.jit(jax.grad(f))(x).sum(), slope, rtol=1e-3)


def test_donated_memory_is_used_again():
    f = jax.jit(lambda x: x + 1, donate_argnums=0)
    x = jax.device_put(np.zeros(1024, np.float32))
    address = x.unsafe_buffer_pointer()
    y = f(x)
    assert x.is_deleted()
    assert y.unsafe_buffer_pointer() == address
    np.testing.assert_array_equal(y, np.ones(1024))


def test_callbacks_see_the_hosts_memory():
    seen = []

    def look(x):
        seen.append(x.copy())
        return (x * 3).astype(np.float32)

    @jax.jit
    def f(x):
        y = jax.pure_callback(look, jax.ShapeDtypeStruct(x.shape, x.dtype), x + 1)
        jax.debug.callback(lambda y: seen.append(np.asarray(y)), y)
        return y - 1

    got = f(jnp.arange(4, dtype=jnp.float32))
    jax.effects_barrier()
    np.testing.assert_array_equal(got, [2, 5, 8, 11])
    np.testing.assert_array_equal(seen[0], [1, 2, 3, 4])
    np.testing.assert_array_equal(seen[1], [3, 6, 9, 12])


def test_an_error_of_a_callback():
    def fail(x):
        raise ValueError("not today")

    f = jax.jit(lambda x: jax.pure_callback(fail, jax.ShapeDtypeStruct((), x.dtype), x))
    with pytest.raises(Exception, match="not today"):
        f(jnp.float32(1)).block_until_ready()


def test_memories():
    x = jax.device_put(np.arange(4.0, dtype=np.float32), on_host())
    assert x.sharding.memory_kind == "pinned_host"
    y = jax.jit(lambda x: x * 2, out_shardings=on_host())(
        jax.device_put(x, jax.memory.Space.Device)
    )
    assert y.sharding.memory_kind == "pinned_host"
    np.testing.assert_array_equal(y, [0, 2, 4, 6])


def is_on_host(x) -> bool:
    """What CUDA says of an array's address."""
    driver = ctypes.CDLL("libcuda.so.1")
    ask, kind = ctypes.c_void_p(), ctypes.c_uint()
    assert (
        driver.cuGetProcAddress_v2(
            b"cuPointerGetAttribute", ctypes.byref(ask), 12040, ctypes.c_uint64(0), None
        )
        == 0
    )
    function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint64)(
        ask.value
    )
    assert function(ctypes.byref(kind), 2, x.unsafe_buffer_pointer()) == 0
    return kind.value == 1


def test_memory_of_the_host_is_pinned():
    x = jax.device_put(np.arange(4.0, dtype=np.float32), on_host())
    assert is_on_host(x)
    near = jax.device_put(x, jax.memory.Space.Device)
    assert not is_on_host(near)
    f = jax.jit(lambda x: (x * 2, x + 1), out_shardings=(on_host(), None))
    double, more = f(near)
    assert is_on_host(double) and not is_on_host(more)
    again = jax.device_put(more, on_host())
    assert is_on_host(again)
    np.testing.assert_array_equal(
        np.stack([double, more, again]), [[0, 2, 4, 6], *2 * [[1, 2, 3, 4]]]
    )


def test_donated_memory_of_the_host_stays_there():
    """A result is where it was asked for, whatever was given away for it."""
    x = jax.device_put(np.zeros(1024, np.float32), on_host())
    y = jax.jit(
        lambda x: x + 1,
        donate_argnums=0,
        out_shardings=jax.sharding.SingleDeviceSharding(jax.devices()[0]),
    )(x)
    assert not is_on_host(y)
    np.testing.assert_array_equal(y, np.ones(1024))


def test_arrays_move_between_devices():
    first, second = jax.devices()
    x = jax.device_put(jnp.arange(1000), second)
    y = jax.device_put(x + 1, first)
    assert y.devices() == {first}
    np.testing.assert_array_equal(y, np.arange(1, 1001))


def test_collectives():
    mesh = make_mesh()
    x = np.arange(16, dtype=np.float32).reshape(4, 4)

    @jax.jit
    @jax.shard_map(mesh=mesh, in_specs=PartitionSpec("d"), out_specs=PartitionSpec("d"))
    def f(x):
        total = jax.lax.psum(x, "d")
        neighbour = jax.lax.ppermute(x, "d", [(0, 1), (1, 0)])
        everything = jax.lax.all_gather(x, "d", tiled=True)
        return total + 100 * neighbour + everything[:2] * 0

    got = f(x)
    assert len(got.devices()) == 2
    want = np.concatenate([x[:2] + x[2:]] * 2) + 100 * np.concatenate([x[2:], x[:2]])
    np.testing.assert_array_equal(got, want)


def test_a_sharded_product():
    mesh = make_mesh()
    a = np.random.default_rng(0).normal(size=(16, 32)).astype(np.float32)
    columns = jax.device_put(a, NamedSharding(mesh, PartitionSpec(None, "d")))
    rows = jax.device_put(a.T, NamedSharding(mesh, PartitionSpec("d", None)))
    got = jax.jit(lambda a, b: a @ b)(columns, rows)
    np.testing.assert_allclose(got, a @ a.T, rtol=1e-4, atol=1e-4)
