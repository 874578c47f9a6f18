"""What test_jax_processes.py runs, in one process with eight devices or in two with
four each: prints a line for each program, with a hash of all shards here.

process_snippets.py [PROCESS PROCESSES PORT]
process_snippets.py loop PROCESS PROCESSES PORT: sums until something fails
"""

import hashlib
import os
import sys
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def connect(process, processes, port):
    jax.distributed.initialize(
        f"localhost:{port}",
        num_processes=int(processes),
        process_id=int(process),
        heartbeat_timeout_seconds=60,
    )


def place(mesh, spec, values):
    """An array of these values, of which each process makes its shards."""
    sharding = NamedSharding(mesh, spec)
    return jax.make_array_from_callback(values.shape, sharding, lambda index: values[index])


def report(name, *arrays):
    """Shards by the device's number: what each process prints is a part of the whole."""
    for array in arrays:
        for shard in sorted(array.addressable_shards, key=lambda shard: shard.device.id):
            data = np.asarray(shard.data)
            digest = hashlib.sha256(data.tobytes()).hexdigest()[:16]
            print(
                f"{name} device {shard.device.id}: {data.dtype} {data.shape} {digest}", flush=True
            )


def collectives(mesh):
    def exchange(x):
        total = jax.lax.psum(x, "d")
        most = jax.lax.pmax(x, "d")
        gathered = jax.lax.all_gather(x, "d", tiled=True)
        shifted = jax.lax.ppermute(x, "d", [(i, (i + 3) % 8) for i in range(7)])
        turned = jax.lax.all_to_all(x, "d", 1, 0, tiled=True)
        scattered = jax.lax.psum_scatter(x, "d", scatter_dimension=1, tiled=True)
        pairs = jax.lax.psum(x, "d", axis_index_groups=[[0, 5], [1, 4], [2, 7], [3, 6]])
        return total, most, gathered, shifted, turned, scattered, pairs

    specs = (P(), P(), P(), P("d"), P("d"), P("d"), P("d"))
    run = jax.jit(
        jax.shard_map(exchange, mesh=mesh, in_specs=P("d"), out_specs=specs, check_vma=False)
    )
    random = np.random.default_rng(7)
    for dtype in ["float32", "bfloat16", "float16", "int8", "uint32", "complex64", "int4"]:
        # 16: one message; 40,000: more than one phase of a sum.
        for width in (16, 40_000):
            values = random.integers(-7, 8, (16, width)).astype(np.float32) / (
                1 if "int" in dtype else 4
            )
            values = np.abs(values) if dtype[0] == "u" else values
            report(
                f"collectives of {dtype} {width}",
                *run(place(mesh, P("d"), values.astype(jnp.dtype(dtype)))),
            )
    logical = jax.jit(
        jax.shard_map(
            lambda x: (jax.lax.all_gather(x, "d"), jax.lax.ppermute(x, "d", [(0, 7), (7, 0)])),
            mesh=mesh,
            in_specs=P("d"),
            out_specs=(P(), P("d")),
            check_vma=False,
        )
    )
    report(
        "collectives of bool",
        *logical(place(mesh, P("d"), random.integers(0, 2, (8, 5)).astype(bool))),
    )


def training(mesh):
    """Data and tensor parallel at once, as jit divides it."""
    grid = jax.sharding.Mesh(mesh.devices.reshape(4, 2), ("data", "model"))
    random = np.random.default_rng(3)

    def make(spec, *shape):
        return place(grid, spec, random.normal(0, 0.3, shape).astype(np.float32))

    weights = make(P(None, "model"), 24, 64), make(P("model", None), 64, 8)
    x, y = make(P("data"), 32, 24), make(P("data"), 32, 8)

    def loss(weights, x, y):
        return jnp.mean((jnp.tanh(x @ weights[0]) @ weights[1] - y) ** 2)

    @jax.jit
    def step(weights, x, y):
        value, gradients = jax.value_and_grad(loss)(weights, x, y)
        return value, tuple(w - 0.1 * g for w, g in zip(weights, gradients))

    for _ in range(5):
        value, weights = step(weights, x, y)
    report("training", value, *weights)


def resharding(mesh):
    x = place(mesh, P("d"), np.arange(64.0, dtype=np.float32).reshape(8, 8))
    move = jax.jit(lambda x: x, out_shardings=NamedSharding(mesh, P(None, "d")))
    gather = jax.jit(lambda x: x, out_shardings=NamedSharding(mesh, P()))
    report("resharding", move(x), gather(x))
    # Devices in another order than their numbers.
    other = jax.sharding.Mesh(mesh.devices[[0, 4, 1, 5, 2, 6, 3, 7]], "d")
    report(
        "another order",
        jax.jit(lambda x: x - x.sum())(place(other, P("d"), np.arange(16.0, dtype=np.float32))),
    )


def differences(mesh):
    """One program, though each process says it on another line, and counts its
    callbacks from another number."""
    x = place(mesh, P("d"), np.arange(8.0, dtype=np.float32))
    if jax.process_index() == 0:
        report("line", jax.jit(lambda x: x - x.sum())(x))
    else:
        # Not where the first process says it.
        report("line", jax.jit(lambda x: x - x.sum())(x))
        jax.block_until_ready(jax.jit(lambda x: jax.debug.callback(print, x))(1.0))

    heard = []

    @jax.jit
    def tell(x):
        total = x.sum()
        jax.debug.callback(heard.append, total)
        return x - total

    report("callback", tell(x))
    jax.effects_barrier()
    assert heard == ([28.0] if jax.process_index() == 0 else []), heard


def elsewhere(mesh):
    """A program of the last four devices, of which a process may have none."""
    devices = jax.sharding.Mesh(mesh.devices[4:], "d")
    sharding = NamedSharding(devices, P("d"))
    values = np.arange(16.0, dtype=np.float32)
    x = jax.make_array_from_callback(
        values.shape, sharding, lambda index: values[index], dtype=values.dtype
    )
    y, total = jax.jit(lambda x: (x + 1, x.sum()))(x)
    jax.block_until_ready((y, total))
    report("elsewhere", y, total)


def cached(mesh, folder):
    """The second compilation is read from files, which the first process wrote."""
    jax.config.update("jax_compilation_cache_dir", folder)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
    x = place(mesh, P("d"), np.arange(24.0, dtype=np.float32))
    for turn in range(2):
        report(f"compilation {turn}", jax.jit(lambda x: jnp.cumsum(x) - x.max())(x))
        multihost_utils.sync_global_devices(f"compiled {turn}")
        jax.clear_caches()
    assert os.listdir(folder)


def loop(mesh):
    total = jax.jit(
        jax.shard_map(lambda x: jax.lax.psum(x, "d"), mesh=mesh, in_specs=P("d"), out_specs=P())
    )
    x = place(mesh, P("d"), np.ones((8, 4), np.float32))
    total(x).block_until_ready()
    print(f"pid {os.getpid()} has begun", flush=True)
    try:
        while True:
            total(x).block_until_ready()
    except Exception as error:
        print(error, flush=True)
    # JAX's own shutdown waits for the other process.
    os._exit(3)


def main(arguments):
    name = arguments.pop(0) if arguments[:1] == ["loop"] else ""
    if arguments:
        connect(*arguments)
    assert jax.default_backend() == "alula"
    assert jax.device_count() == 8
    assert jax.local_device_count() == 8 // jax.process_count()
    assert [device.process_index for device in jax.devices()] == [
        i * jax.process_count() // 8 for i in range(8)
    ]
    mesh = jax.sharding.Mesh(np.array(jax.devices()), "d")
    if name:
        return loop(mesh)
    collectives(mesh)
    training(mesh)
    resharding(mesh)
    differences(mesh)
    elsewhere(mesh)
    with tempfile.TemporaryDirectory(prefix="alone") as own:
        # One folder for both.
        cached(mesh, os.environ.get("PROCESS_SNIPPETS_FOLDER", own))


if __name__ == "__main__":
    main(sys.argv[1:])
