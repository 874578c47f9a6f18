"""Small models and loops of our own, for the smoke test."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


def normal(seed: int, *shape, dtype=np.float32) -> np.ndarray:
    return np.random.RandomState(seed).standard_normal(shape).astype(dtype)


def mlp(x, first, second):
    hidden = jax.nn.gelu(x @ first)
    return jax.nn.softmax(hidden @ second)


def cnn(image, kernel, scale):
    image = lax.conv_general_dilated(
        image, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    image = jax.nn.relu(image * scale)
    return lax.reduce_window(image, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def attention(query, key, value):
    scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / np.float32(np.sqrt(query.shape[-1]))
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, np.float32(-1e9)))
    return jnp.einsum("bhqk,bkhd->bqhd", weights, value)


def layer_norm_gradient(x, scale):
    def loss(scale):
        centered = x - x.mean(-1, keepdims=True)
        return jnp.sum(jnp.tanh(centered * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * scale))

    return jax.value_and_grad(loss)(scale)


def scan_rnn(inputs, weights):
    def step(state, x):
        state = jnp.tanh(state @ weights + x)
        return state, state.sum()

    return lax.scan(step, jnp.zeros(weights.shape[0], weights.dtype), inputs)


def collatz(n):
    def body(state):
        n, steps = state
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

    return lax.while_loop(lambda state: state[0] != 1, body, (n, 0))[1]


def branches(index, x):
    return lax.switch(index, [jnp.sin, jnp.cos, lambda x: x * x], x)


def sort_by_key(keys, values):
    return lax.sort((keys, values), num_keys=1, is_stable=True)


def histogram(values):
    return jnp.zeros(8, jnp.int32).at[jnp.clip(values, 0, 9)].add(1, mode="drop")


def low_pass(signal):
    spectrum = jnp.fft.rfft(signal)
    return jnp.fft.irfft(jnp.where(jnp.arange(spectrum.shape[-1]) < 5, spectrum, 0))


def random_numbers(seed):
    first, second = jax.random.split(jax.random.key(seed))
    return jax.random.normal(first, (16,), jnp.float32), jax.random.permutation(second, 10)


def solve(matrix, right):
    return jnp.linalg.solve(matrix, right), jnp.linalg.slogdet(matrix)[1]


def cumulative(x):
    return jnp.cumsum(x), lax.associative_scan(jnp.maximum, x), jnp.median(x)


def mixed_types(x):
    return x.astype(jnp.bfloat16) * 3, x.astype(jnp.int8), x.astype(jnp.float8_e4m3fn), x > 0


def arrow(*shape):
    """A matrix that is far from singular."""
    return (normal(0, *shape) + 8 * np.eye(shape[-1])).astype(np.float32)


PROGRAMS = [
    (mlp, [normal(0, 4, 16), normal(1, 16, 32), normal(2, 32, 8)]),
    (cnn, [normal(0, 2, 8, 8, 3), normal(1, 3, 3, 3, 4), normal(2, 4)]),
    (attention, [normal(seed, 2, 6, 2, 8) for seed in range(3)]),
    (layer_norm_gradient, [normal(0, 4, 16), normal(1, 16)]),
    (scan_rnn, [normal(0, 5, 8), normal(1, 8, 8)]),
    (collatz, [np.int32(27)]),
    (branches, [np.int32(1), normal(0, 4)]),
    (sort_by_key, [np.array([3, 1, 2, 1, 3], np.int32), np.arange(5, dtype=np.int32)]),
    (histogram, [np.array([1, 1, -5, 7, 20, 3, 3, 3])]),
    (low_pass, [normal(0, 32)]),
    (random_numbers, [np.uint32(7)]),
    (solve, [arrow(5, 5), normal(1, 5, 2)]),
    (cumulative, [normal(0, 9)]),
    (mixed_types, [normal(0, 12)]),
]
