"""Random bits against XLA:CPU through jax.lax.rng_bit_generator."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import numpy as np
import pytest
from jax.extend.random import threefry_2x32
from native_library import call, size

KEYS = {
    "threefry": [[1, 2, 3, 4], [0, 0, 0, 0], [5, 6, 0xFFFFFFFF, 7], [5, 6, 0xFFFFFFFE, 0xFFFFFFFF]],
    "philox": [[1, 2, 3, 4], [1, 2, 0xFFFFFFFF, 0xFFFFFFFF]],
}
SHAPES = [
    (),
    (0,),
    (1,),
    (7,),
    (8,),
    (1001,),
    (3, 5),
    (5, 3),
    (2, 3),
    (3, 2),
    (3, 4, 5),
    (3, 0, 2),
    (3, 9, 3, 1),
]
WIDTHS = ["uint8", "uint16", "uint32", "uint64"]


def generate(algorithm, key, shape, dtype):
    state = np.array(key, np.uint32).view(np.uint64)
    after = np.empty_like(state)
    bits = np.zeros(shape, dtype)
    name = f"{algorithm}_bits_u{bits.itemsize * 8}"
    if algorithm == "threefry":
        d = size("threefry_pair_dimension", np.array(shape, np.int64), len(shape))
        pairs = shape[d] if shape else 1
        outer, inner = int(np.prod(shape[:d])), int(np.prod(shape[d + 1 :]))
        call(name, None, state, after, bits, outer, pairs, inner)
    else:
        call(name, None, state, len(state), after, bits, bits.size)
    return after.view(np.uint32), bits


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("algorithm", ["threefry", "philox"])
def test_bits_are_those_of_xla(algorithm, width):
    which = {
        "threefry": jax.lax.RandomAlgorithm.RNG_THREE_FRY,
        "philox": jax.lax.RandomAlgorithm.RNG_PHILOX,
    }[algorithm]
    with jax.enable_x64(True):
        # Each shape is compiled by XLA, and only threefry looks at them.
        for shape in SHAPES if (algorithm, width) == ("threefry", "uint32") else SHAPES[3:6]:
            for key in KEYS[algorithm]:
                key = np.array(key, np.uint32)
                after, bits = jax.lax.rng_bit_generator(key, shape, np.dtype(width), which)
                our_after, ours = generate(algorithm, key, shape, width)
                assert (ours == np.asarray(bits)).all(), (shape, key)
                assert (our_after == np.asarray(after)).all(), (shape, key)


def test_philox_carries_into_the_third_word():
    _, bits = generate("philox", [1, 2, 0xFFFFFFFF, 0xFFFFFFFF, 9, 8], (8,), "uint32")
    after, rest = generate("philox", [1, 2, 0, 0, 10, 8], (4,), "uint32")
    assert (bits[4:] == rest).all()
    assert after.tolist() == [1, 2, 1, 0, 10, 8]


def test_threefry2x32():
    key = np.array([0x13198A2E, 0x03707344], np.uint32)
    x = np.arange(2000, dtype=np.uint32) * np.uint32(2654435761)
    y = np.empty_like(x)
    call("threefry2x32_u32", None, key, x[:1000], x[1000:], y[:1000], y[1000:], 1000)
    assert (y == np.asarray(threefry_2x32(key, x))).all()
