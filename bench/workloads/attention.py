"""Causal attention: forward, and its gradient by queries, keys and values."""

import jax
import jax.numpy as jnp
import numpy as np

from bench.case import Case, Row, Work, nbytes, normal
from bench.workloads.transformers import attend


def make_inputs(heads, tokens, size):
    return tuple(normal(heads, tokens, size, seed=seed) for seed in range(3))


def count_flops(heads, tokens, size):
    """Both products, of the half that the mask leaves."""
    return 4.0 * heads * size * tokens * (tokens + 1) / 2


def numpy_attention(params, q, k, v):
    tokens, size = q.shape[-2:]
    scores = q @ k.transpose(0, 2, 1) * np.float32(size**-0.5)
    scores += np.triu(np.full((tokens, tokens), -1e9, np.float32), 1)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v


def attention(heads, tokens, size):
    q, k, v = make_inputs(heads, tokens, size)

    def onnx(graph, params, q, k, v):
        q, k, v = map(graph.input, (q, k, v))
        k = graph.add("Transpose", k, perm=[0, 2, 1])
        scale = graph.constant(np.float32(size**-0.5))
        scores = graph.add("Mul", graph.add("MatMul", q, k), scale)
        hidden = np.triu(np.full((tokens, tokens), -1e9, np.float32), 1)
        weights = graph.add("Softmax", graph.add("Add", scores, graph.constant(hidden)), axis=-1)
        graph.output(graph.add("MatMul", weights, v))

    def torch(torch, params, q, k, v):
        return torch.nn.functional.scaled_dot_product_attention(
            q[None], k[None], v[None], is_causal=True
        )[0]

    return Case(
        lambda params, q, k, v: attend(q, k, v),
        (q, k, v),
        Work(count_flops(heads, tokens, size), nbytes(q, k, v), q.nbytes),
        numpy=numpy_attention,
        onnx=onnx,
        torch=torch,
    )


def attention_gradient(heads, tokens, size):
    inputs = make_inputs(heads, tokens, size)
    outside = normal(heads, tokens, size, seed=3)

    def function(params, q, k, v, outside):
        value, pull = jax.vjp(attend, q, k, v)
        return value, *pull(outside)

    def torch(torch, params, q, k, v, outside):
        q, k, v = (a.detach().requires_grad_() for a in (q, k, v))
        value = torch.nn.functional.scaled_dot_product_attention(
            q[None], k[None], v[None], is_causal=True
        )[0]
        return value.detach(), *torch.autograd.grad(value, (q, k, v), outside)

    # Forward two products, backward four.
    flops = 3 * count_flops(heads, tokens, size)
    work = Work(flops, nbytes(*inputs, outside), 4 * outside.nbytes)
    return Case(function, (*inputs, outside), work, torch=torch)


def grouped_attention(batch, heads, groups, tokens, size):
    """Queries of several heads share keys and values; sequences end at their lengths."""
    q = normal(batch, tokens, heads, size)
    k, v = (normal(batch, tokens, groups, size, seed=seed) for seed in (1, 2))
    lengths = np.linspace(tokens // 3, tokens, batch).astype(np.int32)

    def function(params, q, k, v, lengths):
        return jax.nn.dot_product_attention(
            q, k, v, is_causal=True, query_seq_lengths=lengths, key_value_seq_lengths=lengths
        )

    flops = batch * count_flops(heads, tokens, size)
    work = Work(flops, nbytes(q, k, v, lengths), q.nbytes)
    return Case(function, (q, k, v, lengths), work)


def chunk_with_cache(heads, tokens, length, size):
    """A few new tokens after many old ones, as in a prefill in parts."""
    q = normal(heads, tokens, size)
    k, v = (normal(heads, length, size, seed=seed) for seed in (1, 2))
    start = np.int32(length - tokens)

    def function(params, q, k, v, start):
        scores = jnp.einsum("hqd,hkd->hqk", q, k) * float(size**-0.5)
        places = start + jnp.arange(tokens, dtype=jnp.int32)
        seen = jnp.arange(length, dtype=jnp.int32) <= places[:, None]
        weights = jax.nn.softmax(jnp.where(seen, scores, -1e9))
        return jnp.einsum("hqk,hkd->hqd", weights, v)

    work = Work(4.0 * heads * tokens * length * size, nbytes(q, k, v), q.nbytes)
    return Case(function, (q, k, v, start), work)


ROWS = [
    Row("attention", "attention, 12 heads, 512 tokens", attention, (12, 512, 64), (11, 509, 61)),
    Row(
        "attention-grad",
        "the same with its gradient",
        attention_gradient,
        (12, 512, 64),
        (11, 509, 61),
    ),
    Row(
        "attention-groups",
        "attention of 2 × 8 heads in 2 groups, lengths",
        grouped_attention,
        (2, 8, 2, 256, 64),
        (3, 6, 3, 251, 61),
    ),
    Row(
        "attention-chunk",
        "16 tokens after 1008, 12 heads",
        chunk_with_cache,
        (12, 16, 1024, 64),
        (11, 15, 1021, 61),
    ),
]
