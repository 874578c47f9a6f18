"""GPT-2 as a whole: a step of training, and one token with a cache."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bench.case import Case, Row, Work, nbytes, normal
from bench.workloads.transformers import block_params, dense, feed_forward, norm, run_block

RATE = 0.01


def gpt2_params(layers, width, words, places):
    blocks = [block_params(width) for _ in range(layers)]
    return {
        "words": normal(words, width, scale=0.02),
        "places": normal(places, width, scale=0.02),
        "blocks": blocks,
        "norm": 1 + normal(width, scale=0.1),
        "norm_bias": normal(width, scale=0.1),
    }


def count_weights(layers, width, words):
    """Of matrices that each token is multiplied by."""
    return 12.0 * layers * width * width + words * width


def train_step(layers, width, heads, words, tokens):
    params = gpt2_params(layers, width, words, tokens)
    values, tree = jax.tree.flatten(params)
    text = np.random.default_rng(0).integers(0, words, tokens + 1).astype(np.int32)

    def loss(params, text):
        x = params["words"][text[:-1]] + params["places"]
        for block in params["blocks"]:
            x = run_block(block, x, heads)
        logits = norm(params, "norm", x) @ params["words"].T
        chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), text[1:, None], 1)
        return -chosen.mean()

    def function(constants, text, *values):
        value, gradients = jax.value_and_grad(loss)(jax.tree.unflatten(tree, values), text)
        gradients = jax.tree.leaves(gradients)
        length = jnp.sqrt(sum((g * g).sum() for g in gradients))
        return value, length, *(v - RATE * g for v, g in zip(values, gradients, strict=True))

    def torch(torch, constants, text, *values):
        values = [value.detach().requires_grad_() for value in values]
        value = torch_loss(torch, jax.tree.unflatten(tree, values), text, heads)
        gradients = torch.autograd.grad(value, values)
        length = torch.sqrt(sum((g * g).sum() for g in gradients))
        new = [(v - RATE * g).detach() for v, g in zip(values, gradients, strict=True)]
        return value.detach(), length, *new

    flops = 6.0 * tokens * count_weights(layers, width, words)
    flops += 12.0 * layers * tokens * tokens * width
    written = nbytes(*values)
    work = Work(flops, nbytes(text, *values), written)
    return Case(function, (text, *values), work, tolerance=1e-4, torch=torch)


def torch_loss(torch, params, text, heads):
    """The same network in torch's words."""
    functions = torch.nn.functional

    def normed(block, name, x):
        return functions.layer_norm(x, x.shape[-1:], block[name], block[name + "_bias"])

    def linear(block, name, x):
        return x @ block[name] + block[name + "_bias"]

    x = params["words"][text[:-1].long()] + params["places"]
    tokens, width = x.shape
    for block in params["blocks"]:
        qkv = linear(block, "qkv", normed(block, "norm1", x)).reshape(tokens, 3, heads, -1)
        q, k, v = qkv.permute(1, 2, 0, 3)[:, None]
        mixed = functions.scaled_dot_product_attention(q, k, v, is_causal=True)[0]
        x = x + linear(block, "out", mixed.transpose(0, 1).reshape(tokens, width))
        up = functions.gelu(linear(block, "up", normed(block, "norm2", x)), approximate="tanh")
        x = x + linear(block, "down", up)
    logits = normed(params, "norm", x) @ params["words"].T
    return functions.cross_entropy(logits, text[1:].long())


def decode(layers, width, heads, words, length):
    """Weights and caches are arguments, as a server keeps them. The token's keys and values are
    results: the caches, which are full but for the token, stay where they are."""
    params = gpt2_params(layers, width, words, length)
    values, tree = jax.tree.flatten(params)
    size = width // heads
    caches = [normal(layers, heads, length, size, seed=seed) for seed in (0, 1)]
    token, position = np.int32(words // 2), np.int32(length - 1)
    scale = float(size**-0.5)

    def function(constants, token, position, keys, values, *weights):
        params = jax.tree.unflatten(tree, weights)
        x = params["words"][token][None] + params["places"][position]
        seen = jnp.arange(length, dtype=jnp.int32) <= position
        start = (jnp.int32(0), position, jnp.int32(0))
        new = []
        for i, block in enumerate(params["blocks"]):
            q, k, v = jnp.split(dense(block, "qkv", norm(block, "norm1", x)), 3, -1)
            k, v = k.reshape(heads, 1, size), v.reshape(heads, 1, size)
            new.append((k, v))
            all_k = lax.dynamic_update_slice(keys[i], k, start)
            all_v = lax.dynamic_update_slice(values[i], v, start)
            scores = jnp.einsum("hd,hkd->hk", q.reshape(heads, size), all_k) * scale
            mixing = jax.nn.softmax(jnp.where(seen, scores, -1e9))
            mixed = jnp.einsum("hk,hkd->hd", mixing, all_v).reshape(1, width)
            x = feed_forward(block, x + dense(block, "out", mixed))
        logits = norm(params, "norm", x) @ params["words"].T
        new_k, new_v = (jnp.stack(each) for each in zip(*new, strict=True))
        return logits, new_k, new_v

    flops = 2.0 * count_weights(layers, width, words) + 4.0 * layers * length * width
    # One row of each table of places and, for input, of words.
    read = nbytes(*caches, *values) - params["places"].nbytes
    work = Work(flops, read, 4 * words + 8 * layers * width)
    return Case(function, (token, position, *caches, *values), work, tolerance=1e-4)


ROWS = [
    Row(
        "gpt2-step",
        "GPT-2 124M, SGD step, 64 tokens",
        train_step,
        (12, 768, 12, 50257, 64),
        (12, 756, 12, 50257, 61),
    ),
    Row(
        "gpt2-decode",
        "GPT-2 124M, one token, 1k cache",
        decode,
        (12, 768, 12, 50257, 1024),
        (12, 756, 12, 50257, 1021),
    ),
]
