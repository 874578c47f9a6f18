"""JAX over four devices that are interpreted, by a NCCL that is none: run by
test_jax_collectives.py. XLA:CPU says what is right.

collective_snippets.py [PROCESS PORT]: with them, one of two processes with two devices
each."""

import os
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P


def place(mesh, spec, values):
    sharding = NamedSharding(mesh, spec)
    return jax.make_array_from_callback(values.shape, sharding, lambda index: values[index])


def read(array):
    """Values of the shards here, by the device's number."""
    shards = sorted(array.addressable_shards, key=lambda shard: shard.device.id)
    return [np.asarray(shard.data) for shard in shards]


def exchange(x):
    ring = [(i, (i + 1) % 4) for i in range(4)]
    pairs = [[0, 3], [2, 1]]
    return {
        "psum": jax.lax.psum(x, "d"),
        "psum of pairs": jax.lax.psum(x, "d", axis_index_groups=pairs),
        "pmax": jax.lax.pmax(x, "d"),
        "all_gather": jax.lax.all_gather(x, "d", tiled=True),
        "all_gather of pairs": jax.lax.all_gather(x, "d", axis_index_groups=pairs),
        "psum_scatter": jax.lax.psum_scatter(x, "d", scatter_dimension=1, tiled=True),
        "all_to_all": jax.lax.all_to_all(x, "d", 1, 0, tiled=True),
        "ring": jax.lax.ppermute(x, "d", ring),
        "shift": jax.lax.ppermute(x, "d", ring[:3]),
    }


def run_exchanges(devices, dtype):
    mesh = Mesh(np.array(devices), ("d",))
    values = np.random.default_rng(3).integers(-8, 9, (8, 8)).astype(jnp.dtype(dtype))
    run = jax.jit(
        jax.shard_map(exchange, mesh=mesh, in_specs=P("d"), out_specs=P("d"), check_vma=False)
    )
    return {name: read(got) for name, got in run(place(mesh, P("d"), values)).items()}


def check_exchanges():
    for dtype in ["float32", "bfloat16", "int32", "int16"]:
        want = run_exchanges(jax.devices("cpu"), dtype)
        for name, got in run_exchanges(jax.devices(), dtype).items():
            for mine, theirs in zip(got, want[name], strict=True):
                np.testing.assert_array_equal(mine, theirs, err_msg=f"{name} of {dtype}")


def train(devices):
    """Steps of a model whose batch and features are divided."""
    mesh = Mesh(np.array(devices).reshape(2, 2), ("data", "model"))
    random = np.random.default_rng(0)

    def normal(*shape):
        return random.normal(size=shape).astype(np.float32)

    weights = {
        "in": place(mesh, P(None, "model"), normal(8, 16)),
        "out": place(mesh, P("model", None), normal(16, 4)),
    }
    x = place(mesh, P("data", None), normal(12, 8))
    y = place(mesh, P("data", None), normal(12, 4))

    def loss(weights, x, y):
        hidden = jnp.tanh(x @ weights["in"])
        return jnp.mean((hidden @ weights["out"] - y) ** 2)

    @jax.jit
    def step(weights, x, y):
        value, gradients = jax.value_and_grad(loss)(weights, x, y)
        return value, jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradients)

    losses = []
    for _ in range(5):
        value, weights = step(weights, x, y)
        losses.append(float(value))
    return losses, [np.asarray(weight) for weight in weights.values()]


def check_training():
    losses, weights = train(jax.devices())
    want_losses, want_weights = train(jax.devices("cpu"))
    assert losses[-1] < losses[0]
    np.testing.assert_allclose(losses, want_losses, rtol=1e-5)
    for mine, theirs in zip(weights, want_weights):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)


def check_failure():
    """An error of NCCL is that of the program; the next one works."""
    mesh = Mesh(np.array(jax.devices()), ("d",))
    add = jax.jit(
        jax.shard_map(lambda x: jax.lax.psum(x, "d"), mesh=mesh, in_specs=P("d"), out_specs=P())
    )
    x = place(mesh, P("d"), np.arange(4, dtype=np.float32))
    os.environ["FAKE_NCCL_FAIL"] = "AllReduce:0:6"
    try:
        jax.block_until_ready(add(x))
        raise AssertionError("nothing was said")
    except jax.errors.JaxRuntimeError as error:
        text = str(error)
        assert "NCCL's all_reduce #0 on 'cuda:" in text, text
        assert "remote process exited" in text, text
    finally:
        del os.environ["FAKE_NCCL_FAIL"]
    np.testing.assert_array_equal(add(x), [6])


def check_process(process):
    assert len(jax.devices()) == 4 and len(jax.local_devices()) == 2
    mesh = Mesh(np.array(jax.devices()), ("d",))
    values = np.arange(32, dtype=np.float32).reshape(4, 8)
    run = jax.jit(
        jax.shard_map(exchange, mesh=mesh, in_specs=P("d"), out_specs=P("d"), check_vma=False)
    )
    for _ in range(2):
        got = run(place(mesh, P("d"), values))
        for index, device in enumerate(range(2 * process, 2 * process + 2)):
            want = {
                "psum": values.sum(0, keepdims=True),
                "psum of pairs": values[[device, 3 - device]].sum(0, keepdims=True),
                "pmax": values.max(0, keepdims=True),
                "all_gather": values,
                "ring": values[[(device + 3) % 4]],
                "psum_scatter": values.sum(0, keepdims=True)[:, 2 * device : 2 * device + 2],
            }
            for name, value in want.items():
                np.testing.assert_array_equal(read(got[name])[index], value, err_msg=name)


if len(sys.argv) > 1:
    jax.distributed.initialize(
        f"localhost:{sys.argv[2]}", num_processes=2, process_id=int(sys.argv[1])
    )
    check_process(int(sys.argv[1]))
else:
    check_exchanges()
    check_training()
    check_failure()
print("fine")
