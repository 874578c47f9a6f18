"""A step of a decoder with weights of four bits, from C: how near to what memory allows.

./dev bench decoder [--layers 20] [--width 2048] [--inner 5632] [--words 32000]
                    [--places 512] [--threads 2] [--accuracy i8-activations]

The defaults have 1.1 billion parameters. Weights are random numbers of `i4`, each 32 along the
sums share a scale in f32; keys and values of earlier tokens are bytes with a scale for each head and
place. The program is compiled for this machine, and a C program calls it (`read_turns.c`); the
limit is what as many threads take to only read the same memory, in turns with the calls."""

import argparse
import os
import subprocess
from pathlib import Path

from bench.read_turns import take_turns

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")
FOLDER = BUILD / "bench" / "decoder"
BLOCK, HEAD = 32, 64


def shapes_of(options) -> dict:
    """Each matrix, [outputs, inputs]."""
    width, inner = options.width, options.inner
    layer = {name: (width, width) for name in "qkvo"}
    layer |= {"gate": (inner, width), "up": (inner, width), "down": (width, inner)}
    return layer


def matrices(options) -> list:
    return list(shapes_of(options).values()) * options.layers + [(options.words, options.width)]


def count_bytes(options) -> int:
    """What a step must read."""
    weights = sum(n * k for n, k in matrices(options))
    heads = options.width // HEAD
    cache = 2 * options.layers * options.places * (options.width + 4 * heads)
    return weights // 2 + 4 * weights // BLOCK + cache


def make_step(options):
    """The function and its arguments' types."""
    import jax
    from jax import numpy as jnp

    def matrix(n, k):
        return (
            jax.ShapeDtypeStruct((n, k), jnp.int4),
            jax.ShapeDtypeStruct((n, k // BLOCK, 1), jnp.float32),
        )

    heads, places = options.width // HEAD, options.places
    held = (
        jax.ShapeDtypeStruct((places, heads, HEAD), jnp.int8),
        jax.ShapeDtypeStruct((places, heads, 1), jnp.float32),
    )
    layers = [
        {name: matrix(n, k) for name, (n, k) in shapes_of(options).items()}
        | {"keys": held, "values": held}
        for _ in range(options.layers)
    ]

    def multiply(x, weights):
        w, s = weights
        n, k = w.shape
        return x @ (w.astype(x.dtype).reshape(n, k // BLOCK, BLOCK) * s).reshape(n, k).T

    def normalize(x):
        return x * jax.lax.rsqrt(jnp.mean(x * x) + 1e-6)

    def attend(x, layer):
        q = multiply(x, layer["q"]).reshape(heads, HEAD) / HEAD**0.5
        k = multiply(x, layer["k"]).reshape(heads, HEAD)
        v = multiply(x, layer["v"]).reshape(heads, HEAD)
        keys, values = (
            held.astype(x.dtype) * scale for held, scale in (layer["keys"], layer["values"])
        )
        now = jnp.sum(q * k, -1, keepdims=True)
        earlier = jnp.einsum("hd,phd->hp", q, keys)
        weights = jax.nn.softmax(jnp.concatenate([earlier, now], 1))
        mixed = jnp.einsum("hp,phd->hd", weights[:, :-1], values) + weights[:, -1:] * v
        return multiply(mixed.reshape(1, -1), layer["o"])

    def step(x, layers, head):
        for layer in layers:
            x = x + attend(normalize(x), layer)
            y = normalize(x)
            x = x + multiply(
                jax.nn.silu(multiply(y, layer["gate"])) * multiply(y, layer["up"]), layer["down"]
            )
        return multiply(normalize(x), head)

    x = jax.ShapeDtypeStruct((1, options.width), jnp.float32)
    return step, (x, layers, matrix(options.words, options.width))


def compile_step(options, folder: Path) -> Path:
    import jax
    from jax import export

    step, arguments = make_step(options)
    exported = export.export(jax.jit(step), platforms=["cpu"])(*arguments)
    folder.mkdir(parents=True, exist_ok=True)
    program, artifact = folder / "step.mlirbc", folder / "step.alula"
    program.write_bytes(exported.mlir_module_serialized)
    given = [f"--accuracy={word}" for word in options.accuracy]
    command = [
        BUILD / "bin" / "alula-compile",
        program,
        "-o",
        artifact,
        "--target=cpu:host",
        *given,
    ]
    subprocess.run(command, check=True)
    return artifact


def parse(argv=None):
    parser = argparse.ArgumentParser(
        prog="./dev bench decoder", description=__doc__.splitlines()[0]
    )
    for name, default in {
        "layers": 20, "width": 2048, "inner": 5632, "words": 32000, "places": 512, "threads": 2,
    }.items():  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--seconds", type=float, default=5.0, help="default: %(default)s")
    parser.add_argument("--accuracy", action="append", default=[])
    return parser.parse_args(argv)


def main():
    options = parse()
    artifact = compile_step(options, FOLDER)
    count = count_bytes(options)
    turns = take_turns(artifact, options.threads, options.seconds)
    parameters = sum(n * k for n, k in matrices(options))
    print(f"{parameters / 1e9:.2f} billion parameters, {count / 1e6:.0f} MB to read for a token")
    print(f"{1 / min(turns.calls):.2f} tokens/s, {turns.describe()}")


if __name__ == "__main__":
    main()
