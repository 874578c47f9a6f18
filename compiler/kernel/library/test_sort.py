"""Sorts of keys and of pairs against NumPy's stable ones."""

import numpy as np
import pytest
from native_library import call

COUNTS = [0, 1, 2, 47, 48, 300, 2047, 2048, 10_000, 70_000]
SCRATCH_BYTES = 4 * 8 * 2048
ENDS = 2048


def draw(kind, count, bits):
    random = np.random.default_rng(count)
    top = 2**bits - 1
    if kind == "all":
        return random.integers(0, top, count, np.uint64, endpoint=True)
    if kind == "few":
        return random.integers(0, 9, count, np.uint64) * np.uint64(top // 9)
    if kind == "one":
        return np.full(count, top // 3, np.uint64)
    if kind == "outlier":
        values = random.integers(0, 9999, count, np.uint64)
        values[count // 2 :][:1] = top
        return values
    if kind == "falling":
        return np.arange(count, 0, -1).astype(np.uint64)
    # Most begin with the same digit.
    return random.normal(size=count).astype(f"f{bits // 8}").view(f"u{bits // 8}").astype(np.uint64)


@pytest.mark.parametrize("kind", ["all", "few", "one", "falling", "floats"])
@pytest.mark.parametrize("count", COUNTS)
def test_pairs_of_32_bits(kind, count):
    keys = draw(kind, count, 32)
    pairs = keys << np.uint64(32) | np.arange(count, dtype=np.uint64)
    want = pairs[np.argsort(keys, kind="stable")]
    call("sort_pairs_32", None, pairs, np.empty_like(pairs), count, np.empty(SCRATCH_BYTES, np.uint8))
    np.testing.assert_array_equal(pairs, want)


@pytest.mark.parametrize("kind", ["all", "few", "one", "falling", "floats"])
@pytest.mark.parametrize("count", COUNTS)
def test_pairs_of_64_bits(kind, count):
    keys = draw(kind, count, 64)
    pairs = np.stack([keys, np.arange(count, dtype=np.uint64)], 1)
    want = pairs[np.argsort(keys, kind="stable")]
    call("sort_pairs_64", None, pairs, np.empty_like(pairs), count, np.empty(SCRATCH_BYTES, np.uint8))
    np.testing.assert_array_equal(pairs, want)


@pytest.mark.parametrize("kind", ["all", "few", "one", "falling", "floats"])
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("bits", [32, 64])
def test_keys_alone(kind, count, bits):
    keys = draw(kind, count, bits).astype(f"u{bits // 8}")
    want = np.sort(keys)
    call(f"sort_keys_{bits}", None, keys, np.empty_like(keys), count, np.empty(SCRATCH_BYTES, np.uint8))
    np.testing.assert_array_equal(keys, want)


def sort_in_parts(name, items, count, keys, chunks, ranges):
    """`items` has `count` rows; each step for all its parts, the last one first."""
    size = -(-count // chunks)
    parted, result, spare = (np.empty_like(items) for _ in range(3))
    bits = np.empty((chunks, 2), np.uint64)
    for c in range(chunks):
        part = keys[c * size : (c + 1) * size]
        bits[c] = np.bitwise_or.reduce(part), np.bitwise_and.reduce(part)
    ends = np.empty((chunks, ENDS), np.uint32)
    for c in reversed(range(chunks)):
        rows = slice(c * size, (c + 1) * size)
        here = items[rows]
        call(f"sort_part_{name}", None, here, parted[rows], len(here), bits, chunks, ends[c])
    scratch = np.empty(SCRATCH_BYTES, np.uint8)
    for r in reversed(range(ranges)):
        call(f"sort_range_{name}", None, parted, result, spare, count, bits, chunks, ends, r, ranges, scratch)
    return result


@pytest.mark.parametrize("kind", ["all", "few", "one", "falling", "floats", "outlier"])
@pytest.mark.parametrize("count", [5000, 70_000, 140_000, 1_000_000])
@pytest.mark.parametrize("chunks, ranges", [(1, 1), (4, 7), (64, 64)])
@pytest.mark.parametrize("bits", [32, 64])
def test_parts(kind, count, chunks, ranges, bits):
    keys = draw(kind, count, bits)
    order = np.argsort(keys, kind="stable")
    alone = keys.astype(f"u{bits // 8}")
    got = sort_in_parts(f"keys_{bits}", alone, count, keys, chunks, ranges)
    np.testing.assert_array_equal(got, alone[order])
    places = np.arange(count, dtype=np.uint64)
    pairs = keys << np.uint64(32) | places if bits == 32 else np.stack([keys, places], 1)
    got = sort_in_parts(f"pairs_{bits}", pairs, count, keys, chunks, ranges)
    np.testing.assert_array_equal(got, pairs[order])
