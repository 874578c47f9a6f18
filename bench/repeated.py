"""Processor time of compiling programs that repeat themselves, beside XLA:CPU: equal
layers of a transformer, unrolled loops, steps that differ in a constant.

    python bench/repeated.py                 all, each in a process of its own
    python bench/repeated.py layers 12       one, on the platform of JAX_PLATFORMS
"""

import os
import subprocess
import sys
import time

CASES = [
    ("scan", 125),
    ("scan", 500),
    ("sines", 500),
    ("sines", 2000),
    ("constants", 100),
    ("constants", 800),
    ("layers", 2),
    ("layers", 6),
    ("layers", 12),
]


def make(name, count):
    """A function and its arguments."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def scan(x, w):
        def step(carry, _):
            return jnp.tanh(carry @ w), None

        return jax.lax.scan(step, x, None, length=count, unroll=count)[0]

    def sines(x):
        for i in range(count):
            x = jnp.sin(x) + 0.5 * i
        return x

    def constants(x, w):
        for i in range(count):
            x = jnp.sin(x @ w) + 0.37 * i
        return x

    width, rows, heads = 256, 64, 4

    def normalize(x):
        return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)

    def split(x):
        return x.reshape(rows, heads, width // heads).transpose(1, 0, 2)

    def layer(x, weights):
        query, key, value, out, up, down = weights
        y = normalize(x)
        q, k, v = split(y @ query), split(y @ key), split(y @ value)
        scores = jax.nn.softmax(q @ k.transpose(0, 2, 1) / 8)
        x = x + (scores @ v).transpose(1, 0, 2).reshape(rows, width) @ out
        return x + jax.nn.gelu(normalize(x) @ up) @ down

    def loss(weights, x):
        for own in weights:
            x = layer(x, own)
        return (x * x).mean()

    def ones(*sizes):
        return np.ones(sizes, np.float32)

    square = ones(width, width)
    one = [square] * 4 + [ones(width, 4 * width), ones(4 * width, width)]
    return {
        "scan": (scan, ones(8, 8), ones(8, 8)),
        "sines": (sines, ones(8, 8)),
        "constants": (constants, ones(64, 64), ones(64, 64)),
        "layers": (jax.grad(loss), [one] * count, ones(rows, width)),
    }[name]


def measure(name, count):
    import jax

    function, *arguments = make(name, count)
    jax.jit(lambda x: x + 1).lower(1.0).compile()
    lowered = jax.jit(function).lower(*arguments)
    start = time.process_time()
    lowered.compile()
    return time.process_time() - start


def run(platform, name, count):
    result = subprocess.run(
        [sys.executable, __file__, name, str(count)],
        env=os.environ | {"JAX_PLATFORMS": platform},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(result.stdout)


def main():
    if len(sys.argv) == 3:
        print(measure(sys.argv[1], int(sys.argv[2])))
        return
    print("case        count   Alula     XLA   ratio")
    for name, count in CASES:
        ours, theirs = (run(platform, name, count) for platform in ("alula", "cpu"))
        print(f"{name:10} {count:6} {ours:7.2f} {theirs:7.2f} {ours / theirs:7.2f}", flush=True)


if __name__ == "__main__":
    main()
