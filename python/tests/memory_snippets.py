"""Kinds of memory: arrays and results lie where they are asked to."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.ad_checkpoint import checkpoint_name


def on_host(device=None):
    device = device or jax.devices()[0]
    return jax.sharding.SingleDeviceSharding(device, memory_kind="pinned_host")


def test_a_device_has_the_kinds_of_other_platforms():
    device = jax.devices()[0]
    kinds = [memory.kind for memory in device.addressable_memories()]
    assert kinds == ["device", "pinned_host", "unpinned_host"]
    assert device.default_memory().kind == "device"


def test_arrays_move_between_memories():
    x = jax.device_put(np.arange(4.0), on_host())
    assert x.sharding.memory_kind == "pinned_host"
    y = jax.device_put(x, jax.memory.Space.Device)
    assert y.sharding.memory_kind == "device"
    np.testing.assert_array_equal(x, y)


def test_results_lie_where_they_are_asked_to():
    f = jax.jit(lambda x: (x * 2, x + 1), out_shardings=(on_host(), None))
    doubled, more = f(jnp.arange(3.0))
    assert doubled.sharding.memory_kind == "pinned_host"
    assert more.sharding.memory_kind == "device"
    np.testing.assert_array_equal(doubled, [0, 2, 4])
    kinds = f.lower(jnp.arange(3.0)).compile().runtime_executable().get_output_memory_kinds()
    assert kinds == [["pinned_host", "device"]]


def test_programs_move_arrays_within():
    @jax.jit
    def f(x):
        away = jax.device_put(x * 2, jax.memory.Space.Host)
        return jnp.sum(jax.device_put(away, jax.memory.Space.Device) + x)

    assert f(jnp.arange(4.0)) == 18


def test_a_kept_executable_knows_the_kinds():
    from jax.experimental import serialize_executable

    f = jax.jit(lambda x: x * 2, out_shardings=on_host())
    loaded = serialize_executable.deserialize_and_load(
        *serialize_executable.serialize(f.lower(jnp.ones(3)).compile()),
        execution_devices=jax.devices()[:1],
    )
    assert loaded(jnp.ones(3)).sharding.memory_kind == "pinned_host"


def test_gradients_through_offloaded_values():
    policy = jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=[],
        names_which_can_be_offloaded=["kept"],
        offload_src="device",
        offload_dst="pinned_host",
    )

    def f(x):
        y = checkpoint_name(jnp.sin(x), "kept")
        return jnp.sum(jnp.sin(y))

    x = jnp.linspace(0.0, 1.0, 5)
    ours = jax.jit(jax.grad(jax.checkpoint(f, policy=policy)))(x)
    np.testing.assert_allclose(ours, jax.jit(jax.grad(f))(x), rtol=1e-6)


def test_results_take_the_memory_of_those_that_are_gone():
    before = jax.devices()[0].memory_stats()["pool_bytes"]
    f = jax.jit(lambda x: x + 1)
    x = jnp.zeros((1 << 20) + 4096)
    result = f(x)
    first = result.unsafe_buffer_pointer()
    del result
    assert jax.devices()[0].memory_stats()["pool_bytes"] > before
    result = f(x)
    assert result.unsafe_buffer_pointer() == first
    np.testing.assert_array_equal(result, np.ones_like(x))
