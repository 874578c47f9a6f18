"""A block of GPT-2: over a text, and one token with a cache."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bench.case import Case, Row, Work, nbytes, normal


def block_params(width):
    shapes = {"qkv": (width, 3 * width), "out": (width, width)}
    shapes |= {"up": (width, 4 * width), "down": (4 * width, width)}
    params = {}
    for seed, (name, shape) in enumerate(shapes.items()):
        params[name] = normal(*shape, scale=shape[0] ** -0.5, seed=seed)
        params[name + "_bias"] = normal(shape[1], scale=0.1, seed=seed)
    for seed, name in enumerate(("norm1", "norm2")):
        params[name] = 1 + normal(width, scale=0.1, seed=seed)
        params[name + "_bias"] = normal(width, scale=0.1, seed=seed)
    return params


def norm(params, name, x):
    centred = x - x.mean(-1, keepdims=True)
    variance = (centred * centred).mean(-1, keepdims=True)
    return centred * lax.rsqrt(variance + 1e-5) * params[name] + params[name + "_bias"]


def dense(params, name, x):
    return x @ params[name] + params[name + "_bias"]


def feed_forward(params, x):
    return x + dense(params, "down", jax.nn.gelu(dense(params, "up", norm(params, "norm2", x))))


def attend(q, k, v):
    """Causal attention of [heads, tokens, size]."""
    tokens, size = q.shape[-2:]
    scores = jnp.einsum("hqd,hkd->hqk", q, k) * float(size**-0.5)
    mask = np.tril(np.ones((tokens, tokens), bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    return jnp.einsum("hqk,hkd->hqd", weights, v)


def run_block(params, x, heads):
    tokens, width = x.shape
    qkv = dense(params, "qkv", norm(params, "norm1", x))
    parts = jnp.split(qkv, 3, -1)
    q, k, v = (p.reshape(tokens, heads, width // heads).transpose(1, 0, 2) for p in parts)
    mixed = attend(q, k, v).transpose(1, 0, 2).reshape(tokens, width)
    return feed_forward(params, x + dense(params, "out", mixed))


def gpt2_block(tokens, width, heads):
    params, x = block_params(width), normal(tokens, width)
    size = width // heads
    scale = float(size**-0.5)

    def function(params, x):
        return run_block(params, x, heads)

    def onnx(graph, params, x):
        def normed(name, which):
            weights = graph.constant(params[which]), graph.constant(params[which + "_bias"])
            return graph.add("LayerNormalization", name, *weights, epsilon=1e-5)

        def linear(name, which):
            weights = graph.constant(params[which]), graph.constant(params[which + "_bias"])
            return graph.add("Gemm", name, *weights)

        x = graph.input(x)
        parts = graph.add(
            "Split", linear(normed(x, "norm1"), "qkv"), results=3, axis=1, num_outputs=3
        )
        shape = graph.constant(np.array([tokens, heads, size]))
        q, k, v = (
            graph.add("Transpose", graph.add("Reshape", part, shape), perm=perm)
            for part, perm in zip(parts, ([1, 0, 2], [1, 2, 0], [1, 0, 2]), strict=True)
        )
        scores = graph.add("Mul", graph.add("MatMul", q, k), graph.constant(np.float32(scale)))
        hidden = np.triu(np.full((tokens, tokens), -1e9, np.float32), 1)
        weights = graph.add("Softmax", graph.add("Add", scores, graph.constant(hidden)), axis=-1)
        mixed = graph.add("Transpose", graph.add("MatMul", weights, v), perm=[1, 0, 2])
        mixed = graph.add("Reshape", mixed, graph.constant(np.array([tokens, width])))
        x = graph.add("Add", x, linear(mixed, "out"))
        up = graph.add("Gelu", linear(normed(x, "norm2"), "up"), approximate="tanh")
        graph.output(graph.add("Add", x, linear(up, "down")))

    flops = 2.0 * tokens * 12 * width * width + 4.0 * tokens * tokens * width
    work = Work(flops, nbytes(x, *params.values()), x.nbytes)
    return Case(function, (x,), work, params, onnx=onnx)


def decode_step(length, width, heads):
    """The cache is full but for the token; it stays outside of the result, as
    a program keeps it in place."""
    params, x = block_params(width), normal(1, width)
    size = width // heads
    keys, values = normal(heads, length, size), normal(heads, length, size, seed=1)
    position = np.int32(length - 1)
    scale = float(size**-0.5)

    def function(params, x, keys, values, position):
        q, k, v = jnp.split(dense(params, "qkv", norm(params, "norm1", x)), 3, -1)
        start = (jnp.int32(0), position, jnp.int32(0))
        keys = lax.dynamic_update_slice(keys, k.reshape(heads, 1, size), start)
        values = lax.dynamic_update_slice(values, v.reshape(heads, 1, size), start)
        scores = jnp.einsum("hd,hkd->hk", q.reshape(heads, size), keys) * scale
        seen = jnp.arange(length, dtype=jnp.int32) <= position
        weights = jax.nn.softmax(jnp.where(seen, scores, -1e9))
        mixed = jnp.einsum("hk,hkd->hd", weights, values).reshape(1, width)
        return feed_forward(params, x + dense(params, "out", mixed))

    flops = 2.0 * 12 * width * width + 4.0 * length * width
    work = Work(flops, nbytes(keys, values, *params.values()), x.nbytes)
    return Case(function, (x, keys, values, position), work, params)


ROWS = [
    Row("gpt2-block", "GPT-2 block, 128 tokens", gpt2_block, (128, 768, 12), (125, 756, 12)),
    Row("decode-step", "one decode step, 1k cache", decode_step, (1024, 768, 12), (1021, 756, 12)),
]
