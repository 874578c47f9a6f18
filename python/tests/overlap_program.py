"""What test_overlap.py runs, in two processes with a device each: a sum over both,
beside a product that doesn't need it, or before it.

overlap_program.py PROCESS PORT FOLDER: prints the factors of time of ROUNDS pairs, and
the seconds of the slower step; the profile of a step is in FOLDER
"""

import statistics
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

ROUNDS = 9
# 2 MB go each way, and back; 5 GFLOP of products.
SUMMED, SIZE, PRODUCTS = 1 << 20, 768, 6


def make_step(mesh, is_beside):
    def step(x, a):
        total = lax.psum(x, "d")
        if not is_beside:
            total, a = lax.optimization_barrier((total, a))
        for _ in range(PRODUCTS):
            a = jnp.tanh(a[0] @ a[0])[None]
        return total, a

    spec = P("d")
    specs = {"in_specs": (spec, spec), "out_specs": (P(), spec)}
    body = jax.shard_map(step, mesh=mesh, check_vma=False, **specs)
    return jax.jit(body)


def main(process, port, folder):
    jax.distributed.initialize(f"localhost:{port}", 2, int(process), heartbeat_timeout_seconds=100)
    mesh = jax.make_mesh((2,), ("d",))

    def place(shape):
        values = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        sharding = NamedSharding(mesh, P("d"))
        return jax.make_array_from_callback(shape, sharding, lambda index: values[index])

    arguments = place((2, SUMMED)), place((2, SIZE, SIZE)) / 30
    beside, before = (make_step(mesh, b).lower(*arguments).compile() for b in (True, False))

    def measure(step):
        begin = time.perf_counter()
        jax.block_until_ready(step(*arguments))
        return time.perf_counter() - begin

    wanted = jax.block_until_ready(before(*arguments))
    for ours, theirs in zip(beside(*arguments), wanted):
        for a, b in zip(ours.addressable_shards, theirs.addressable_shards):
            np.testing.assert_array_equal(np.asarray(a.data), np.asarray(b.data))
    pairs = [(measure(beside), measure(before)) for _ in range(ROUNDS)]
    print("factors", *(f"{a / b:.3f}" for a, b in pairs))
    print("seconds", statistics.median(b for _, b in pairs), flush=True)
    with jax.profiler.trace(folder):
        measure(beside)


if __name__ == "__main__":
    main(*sys.argv[1:])
