"""Processor seconds of the partitioner, and its share of compiling: training
steps of transformers of more and more layers over eight devices, by data and by
tensor (Megatron).

    JAX_PLATFORMS=cpu python bench/partition_linearity.py [--layers 6,12,24,48] [--whole]

--whole also compiles to the end, which takes long."""

import argparse
import resource
import subprocess
import tempfile
from pathlib import Path

import jax

jax.config.update("jax_num_cpu_devices", 8)

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

BUILD = Path(__file__).resolve().parents[1] / "build"
WIDTH, HEADS, LENGTH, BATCH = 128, 4, 32, 8


def forward(params, x):
    for query, key, value, out, up, down in params:
        h = x - jnp.mean(x, -1, keepdims=True)
        h = h * lax.rsqrt(jnp.mean(h * h, -1, keepdims=True) + 1e-5)
        q, k, v = (jnp.einsum("btf,fhd->bthd", h, w) for w in (query, key, value))
        chances = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k))
        x = x + jnp.einsum("bhqk,bkhd,hdf->bqf", chances, v, out)
        x = x + jax.nn.gelu(x @ up) @ down
    return x


def step(params, batch):
    def loss(params):
        return jnp.mean(jnp.square(forward(params, batch[0]) - batch[1]))

    value, grads = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value


def lower(layers):
    mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)

    def array(shape, *spec):
        return jax.ShapeDtypeStruct(shape, np.float32, sharding=NamedSharding(mesh, P(*spec)))

    size = WIDTH // HEADS
    layer = [array((WIDTH, HEADS, size), None, "y") for _ in range(3)]
    layer += [
        array((HEADS, size, WIDTH), "y"),
        array((WIDTH, 4 * WIDTH), None, "y"),
        array((4 * WIDTH, WIDTH), "y"),
    ]
    batch = [array((BATCH, LENGTH, WIDTH), "x")] * 2
    return jax.jit(step).lower([layer] * layers, batch).as_text()


def measure(file, until):
    """Processor seconds up to the end of a stage."""
    command = [BUILD / "bin" / "alula-compile", file, "--target=cpu:x86-64-v3"]
    command += ["-o", "/dev/null"] + ([f"--compile-to={until}"] if until else [])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", default="6,12,24,48")
    parser.add_argument("--whole", action="store_true")
    options = parser.parse_args()
    print("| layers | partitioner | for each layer | up to it | all |")
    print("|---|---|---|---|---|")
    for layers in map(int, options.layers.split(",")):
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            file.write(lower(layers))
            file.flush()
            before, behind = (
                min(measure(file.name, stage) for _ in range(3))
                for stage in ("optimize", "partition")
            )
            whole = f"{measure(file.name, None):.2f}" if options.whole else ""
        own = behind - before
        print(f"| {layers} | {own:.3f} | {own / layers:.4f} | {before:.2f} | {whole} |", flush=True)


if __name__ == "__main__":
    main()
