"""What peers are given, without the peers."""

import numpy as np
import pytest

from bench.peers import ALL, EVERY, ROUNDED
from bench.peers.in_ggml import pack
from bench.plots import COLOURS
from bench.tables import NAMES


@pytest.mark.parametrize("bits", [4, 8])
def test_blocks_of_ggml(bits):
    """Each is a scale and 32 numbers; those of four bits lie in pairs 16 apart."""
    random = np.random.default_rng(bits)
    codes = random.integers(0, 1 << bits, (64, 3))
    scales = random.uniform(0.5, 2, (2, 3)).astype(np.float32)
    blocks = pack(codes, scales, bits).reshape(3, 2, -1)
    assert blocks.shape[-1] == 2 + 32 * bits // 8
    halves = blocks[:, :, :2].copy().view(np.float16)[:, :, 0]
    np.testing.assert_allclose(halves.T, scales, rtol=1e-3)
    numbers = blocks[:, :, 2:]
    if bits == 4:
        numbers = np.concatenate([numbers & 15, numbers >> 4], -1).astype(np.int64) - 8
    else:
        numbers = numbers.view(np.int8).astype(np.int64)
    np.testing.assert_array_equal(numbers.reshape(3, 64).T, codes - (1 << bits - 1))


def test_everybody_has_a_name_and_a_colour():
    assert set(EVERY) == set(NAMES) == set(COLOURS)
    assert len(set(COLOURS.values())) == len(COLOURS)
    assert not set(ALL) & {name for pair in ROUNDED.items() for name in pair}
