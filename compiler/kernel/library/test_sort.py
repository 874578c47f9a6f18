"""Sorts of keys and of pairs against NumPy's stable ones."""

import numpy as np
import pytest
from native_library import call, call_integer

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
    call(
        "sort_pairs_32", None, pairs, np.empty_like(pairs), count, np.empty(SCRATCH_BYTES, np.uint8)
    )
    np.testing.assert_array_equal(pairs, want)


@pytest.mark.parametrize("kind", ["all", "few", "one", "falling", "floats"])
@pytest.mark.parametrize("count", COUNTS)
def test_pairs_of_64_bits(kind, count):
    keys = draw(kind, count, 64)
    pairs = np.stack([keys, np.arange(count, dtype=np.uint64)], 1)
    want = pairs[np.argsort(keys, kind="stable")]
    call(
        "sort_pairs_64", None, pairs, np.empty_like(pairs), count, np.empty(SCRATCH_BYTES, np.uint8)
    )
    np.testing.assert_array_equal(pairs, want)


@pytest.mark.parametrize("kind", ["all", "few", "one", "falling", "floats"])
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("bits", [32, 64])
def test_keys_alone(kind, count, bits):
    keys = draw(kind, count, bits).astype(f"u{bits // 8}")
    want = np.sort(keys)
    call(
        f"sort_keys_{bits}",
        None,
        keys,
        np.empty_like(keys),
        count,
        np.empty(SCRATCH_BYTES, np.uint8),
    )
    np.testing.assert_array_equal(keys, want)


def draw_hard(kind, count, bits):
    """Orders and values that pivots may part badly."""
    top, random = 2**bits - 1, np.random.default_rng(count)
    numbers = np.arange(count, dtype=np.uint64)
    if kind == "least and most":
        return random.integers(0, 1, count, np.uint64, endpoint=True) * np.uint64(top)
    if kind == "most but one":
        numbers[:] = top
        numbers[count // 2 :][:1] = 0
        return numbers
    if kind == "organ pipe":
        return np.minimum(numbers, numbers[::-1])
    if kind == "steps":
        return numbers % np.uint64(37)
    # Where samples are taken are the least ones.
    for lanes in (8, 16):
        numbers[(2 * np.arange(lanes) + 1) * count // (2 * lanes)] = 0
    return numbers


@pytest.mark.parametrize(
    "kind", ["least and most", "most but one", "organ pipe", "steps", "bad samples"]
)
@pytest.mark.parametrize("bits", [32, 64])
def test_hard_orders(kind, bits):
    for count in [1, 100, 129, 257, 300, 1000, 20_000]:
        keys = draw_hard(kind, count, bits).astype(f"u{bits // 8}")
        want = np.sort(keys)
        other, scratch = np.empty_like(keys), np.empty(SCRATCH_BYTES, np.uint8)
        call(f"sort_keys_{bits}", None, keys, other, count, scratch)
        np.testing.assert_array_equal(keys, want)


def draw_worst(count, lanes, rounds):
    """So many times the pivot, the median of `lanes` samples, is one of the least: done to
    places as vectors do it to items, which get their values when they become samples."""
    ranks = np.full(count, count, int)
    places, known = np.arange(count), 0
    for _ in range(rounds):
        at = (2 * np.arange(lanes) + 1) * len(places) // (2 * lanes)
        for place in places[at]:
            if ranks[place] == count:
                ranks[place], known = known, known + 1
        is_less = ranks[places] < np.sort(ranks[places[at]])[lanes // 2]
        whole = max(len(places) // lanes - 1, 0) * lanes
        above = [places[:whole][~is_less[:whole]][::-1]]
        for begin in (whole, whole + lanes):
            part = slice(begin, begin + lanes)
            above.insert(0, places[part][~is_less[part]])
        places = np.concatenate(above)
    return ranks.astype(np.uint64)


@pytest.mark.parametrize("bits", [32, 64])
def test_bad_pivots(bits):
    """So many that digits do the rest."""
    lanes = 512 // bits
    for count, rounds in ((2000, 70), (6000, 70), (6001, 71)):
        keys = draw_worst(count, lanes, rounds).astype(f"u{bits // 8}")
        want = np.sort(keys)
        other, scratch = np.empty_like(keys), np.empty(SCRATCH_BYTES, np.uint8)
        call(f"sort_keys_{bits}", None, keys, other, count, scratch)
        np.testing.assert_array_equal(keys, want)


@pytest.mark.parametrize("bits", [32, 64])
def test_all_counts_around_vectors(bits):
    """Nothing beside the items is written."""
    random = np.random.default_rng(bits)
    counts = [n for n in range(600)] + [*range(1000, 1080), 4095, 4097]
    for count in counts:
        memory = random.integers(0, 2**bits - 1, (2, count + 2), f"u{bits // 8}", endpoint=True)
        edges = memory[:, [0, -1]].copy()
        items, other = memory[0, 1:-1], memory[1, 1:-1]
        want = np.sort(items)
        call(f"sort_keys_{bits}", None, items, other, count, np.empty(SCRATCH_BYTES, np.uint8))
        np.testing.assert_array_equal(items, want)
        np.testing.assert_array_equal(memory[:, [0, -1]], edges)


def sort_in_parts(name, items, count, keys, chunks, ranges, sampled):
    """`items` has `count` rows; each step for all its parts, the last one first."""
    size = -(-count // chunks)
    samples = None
    if sampled:
        places = np.concatenate(
            [
                begin + np.arange(sampled) * min(size, count - begin) // sampled
                for begin in range(0, count, size)
            ]
        ).astype(np.uint64)
        samples = keys[places.astype(int)]
        samples = samples << np.uint64(32) | places if name.endswith("32") else samples
    parted, result, spare = (np.empty_like(items) for _ in range(3))
    bits = np.empty((chunks, 2), np.uint64)
    for c in range(chunks):
        part = keys[c * size : (c + 1) * size]
        bits[c] = np.bitwise_or.reduce(part), np.bitwise_and.reduce(part)
    ends = np.empty((chunks, ENDS), np.uint32)
    for c in reversed(range(chunks)):
        rows = slice(c * size, (c + 1) * size)
        here = items[rows].copy()
        call(
            f"sort_part_{name}",
            None,
            here,
            parted[rows],
            len(here),
            bits,
            chunks,
            samples,
            0 if samples is None else samples.size,
            ends[c],
        )
    scratch = np.empty(SCRATCH_BYTES, np.uint8)
    for r in reversed(range(ranges)):
        call(
            f"sort_range_{name}",
            None,
            parted,
            result,
            spare,
            count,
            bits,
            chunks,
            ends,
            r,
            ranges,
            scratch,
        )
    return result


@pytest.mark.parametrize("kind", ["all", "few", "one", "falling", "floats", "outlier"])
@pytest.mark.parametrize("count", [5000, 70_000, 140_000, 1_000_000])
@pytest.mark.parametrize(
    "chunks, ranges, sampled",
    [(1, 1, 0), (4, 7, 0), (64, 64, 0), (3, 5, 100), (64, 64, 20)],
)
@pytest.mark.parametrize("bits", [32, 64])
def test_parts(kind, count, chunks, ranges, sampled, bits):
    keys = draw(kind, count, bits)
    order = np.argsort(keys, kind="stable")
    alone = keys.astype(f"u{bits // 8}")
    got = sort_in_parts(f"keys_{bits}", alone, count, keys, chunks, ranges, sampled)
    np.testing.assert_array_equal(got, alone[order])
    places = np.arange(count, dtype=np.uint64)
    pairs = keys << np.uint64(32) | places if bits == 32 else np.stack([keys, places], 1)
    got = sort_in_parts(f"pairs_{bits}", pairs, count, keys, chunks, ranges, sampled)
    np.testing.assert_array_equal(got, pairs[order])


def orders(bits):
    """Masks of each order: positive, negative; whether it is of floats, its NumPy type."""
    sign, ones = 1 << (bits - 1), (1 << bits) - 1
    for turn in (0, ones):
        yield sign ^ turn, ones ^ turn, turn, f"f{bits // 8}"
        yield sign ^ turn, sign ^ turn, turn, f"i{bits // 8}"
        yield turn, turn, turn, f"u{bits // 8}"


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def draw_numbers(kind, count):
    random = np.random.default_rng(count)
    if kind[0] != "f":
        return np.frombuffer(random.bytes(count * int(kind[1])), kind).copy()
    x = random.standard_normal(count).astype(kind)
    for special in (np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf, np.finfo(kind).tiny / 4):
        x[random.integers(0, max(count, 1), 3 if count else 0)] = special
    return x


def rank(x, has_equals):
    """Numbers that NumPy sorts as the order says: of floats IEEE 754's total order."""
    if x.dtype.kind != "f":
        return x
    x = np.where(x == 0, x.dtype.type(0), x) if has_equals else x
    x = np.where(np.isnan(x), x.dtype.type(np.nan), x) if has_equals else x
    integers = x.view(f"i{x.itemsize}")
    return np.where(integers < 0, integers ^ np.iinfo(integers.dtype).max, integers)


@pytest.mark.parametrize("count", [0, 1, 17, 64, 1000])
@pytest.mark.parametrize("has_equals", [0, 1])
@pytest.mark.parametrize("bits", [32, 64])
def test_numbers_become_items_and_come_back(bits, has_equals, count):
    for positive, negative, turn, kind in orders(bits):
        if has_equals and kind[0] != "f":
            continue
        x = draw_numbers(kind, count)
        unsigned = x.view(f"u{bits // 8}")
        nan = int(np.array(np.nan, kind).view(f"u{bits // 8}")) if has_equals else 0
        order = [signed(positive), signed(negative), has_equals, signed(nan)]
        keys = np.full(count, 7, f"u{bits // 8}")
        found, differs = np.empty(2, np.uint64), np.empty(1, np.uint64)
        call(f"sort_find_{bits}", None, unsigned, keys, count, *order, found, differs)
        # Keys ascend as the numbers do in this order.
        want = rank(x, has_equals)
        by_key, by_rank = np.argsort(keys, kind="stable"), np.argsort(want, kind="stable")
        if turn:
            by_rank = np.argsort(-1 - want if kind[0] != "u" else ~want, kind="stable")
        np.testing.assert_array_equal(by_key, by_rank)
        assert found[0] == np.bitwise_or.reduce(keys, initial=keys.dtype.type(0))
        assert not count or found[1] == np.bitwise_and.reduce(keys)
        back = np.empty_like(unsigned)
        call(f"sort_take_keys_{bits}", None, keys, back, count, *order[:2])
        assert (differs[0] != 0) == (back != unsigned).any()
        assert has_equals or not differs[0]
        again = np.empty_like(keys)
        call(f"sort_make_keys_{bits}", None, unsigned, again, 5, count, *order)
        np.testing.assert_array_equal(again, keys)
        pairs = np.empty((count, 1 if bits == 32 else 2), np.uint64)
        call(f"sort_make_pairs_{bits}", None, unsigned, pairs, 5, count, *order)
        places = np.arange(5, 5 + count, dtype=np.uint64)
        made = (
            keys.astype(np.uint64) << np.uint64(32) | places
            if bits == 32
            else np.stack([keys, places], 1)
        )
        np.testing.assert_array_equal(pairs.reshape(made.shape), made)


@pytest.mark.parametrize("bits", [32, 64])
def test_bits_or_samples(bits):
    for positive, negative, _, kind in orders(bits):
        x = draw_numbers(kind, 1000)
        unsigned = x.view(f"u{bits // 8}")
        keys = np.empty_like(unsigned)
        order = [signed(positive), signed(negative), 0, 0]
        call(f"sort_make_keys_{bits}", None, unsigned, keys, 0, 1000, *order)
        samples = np.empty(64, np.uint64)
        found, differs, made = np.zeros(2, np.uint64), np.full(1, 5, np.uint64), keys * 0
        rest = [7, 1000, *order, found, samples, 64, differs]
        call(f"sort_survey_{bits}", None, unsigned, made, *rest)
        np.testing.assert_array_equal(made, keys)
        assert differs[0] == 0
        found[:], differs[:] = 0, 5
        call(f"sort_survey_{bits}", None, unsigned, None, *rest)
        assert differs[0] == 5
        if found.any():
            assert found[0] == np.bitwise_or.reduce(keys)
            assert found[1] == np.bitwise_and.reduce(keys)
            continue
        places = np.arange(64) * 1000 // 64
        want = keys[places].astype(np.uint64)
        want = want << np.uint64(32) | (places + 7).astype(np.uint64) if bits == 32 else want
        np.testing.assert_array_equal(samples, want)


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("count", [0, 1, 17, 1000])
@pytest.mark.parametrize("kind", ["some", "few", "only zeros", "only nans", "none"])
def test_zeros_and_nans_are_restored(kind, count, bits):
    random = np.random.default_rng(count)
    for positive, negative, turn, number in orders(bits):
        if number[0] != "f":
            continue
        x = random.standard_normal(count).astype(number)
        unsigned = x.view(f"u{bits // 8}")
        zeros, nans = random.random((2, count)) < {"some": 0.3, "few": 0.01, "none": 0}.get(kind, 1)
        sign = unsigned & unsigned.dtype.type(1 << (bits - 1))
        if kind in ("some", "few", "only zeros"):
            unsigned[zeros] = sign[zeros]
        if kind in ("some", "few", "only nans"):
            payload = np.array(np.nan, number).view(unsigned.dtype) + np.arange(
                count, dtype=unsigned.dtype
            )
            unsigned[nans] = (sign | payload)[nans]
        nan = int(np.array(np.nan, number).view(unsigned.dtype))
        order = [signed(positive), signed(negative), 1, signed(nan)]
        keys, differs = np.empty_like(unsigned), np.empty(1, np.uint64)
        call(f"sort_find_{bits}", None, unsigned, keys, count, *order, None, differs)
        want = unsigned[np.argsort(keys, kind="stable")]
        keys.sort()
        got = np.empty_like(keys)
        call(f"sort_take_keys_{bits}", None, keys, got, count, *order[:2])
        untouched = got.copy()
        call(f"sort_restore_{bits}", None, unsigned, count, got, count, *order, 0)
        np.testing.assert_array_equal(got, untouched)
        # A part of them that has all numbers of each kind.
        for begin, end in ((0, count), (0, count // 2), (count // 2, count)):
            part = np.sort(keys)
            if 0 < begin < count and part[begin - 1] == part[begin]:
                continue
            if 0 < end < count and part[end - 1] == part[end]:
                continue
            some = untouched[begin:end].copy()
            call(
                f"sort_restore_{bits}",
                None,
                unsigned,
                count,
                some,
                end - begin,
                *order,
                signed(int(differs[0])),
            )
            np.testing.assert_array_equal(some, want[begin:end])


@pytest.mark.parametrize("count", [0, 1, 100])
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_elements_are_taken_from_their_places(size, bits, count):
    random = np.random.default_rng(size)
    places = random.permutation(count).astype(np.uint64)
    keys = random.integers(0, 2**31, count, np.uint64)
    pairs = keys << np.uint64(32) | places if bits == 32 else np.stack([keys, places], 1)
    row = np.frombuffer(random.bytes(count * size), f"u{size}").copy()
    result = np.zeros_like(row)
    call(f"sort_take_pairs_{bits}", None, pairs, row, result, count, size)
    np.testing.assert_array_equal(result, row[places.astype(int)])
    call(f"sort_take_pairs_{bits}", None, pairs, None, result, count, size)
    np.testing.assert_array_equal(result, places.astype(result.dtype))


@pytest.mark.parametrize(
    "count, needed", [(1, 1), (64, 3), (100, 10), (1000, 1), (1000, 64), (130, 130)]
)
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("few", [False, True])
def test_first_of_a_row(few, bits, count, needed):
    for positive, negative, _, kind in orders(bits):
        x = draw_numbers(kind, count)
        if few:
            x = np.where(x > 0, x.dtype.type(3), x.dtype.type(2))
        unsigned = x.view(f"u{bits // 8}")
        keys = np.empty_like(unsigned)
        order = [signed(positive), signed(negative), 0, 0]
        call(f"sort_make_keys_{bits}", None, unsigned, keys, 0, count, *order)
        pairs = np.empty((needed, 1 if bits == 32 else 2), np.uint64)
        call(f"sort_first_{bits}", None, unsigned, pairs, count, needed, *order)
        places = pairs[:, -1] & np.uint64(2**32 - 1) if bits == 32 else pairs[:, 1]
        np.testing.assert_array_equal(places, np.argsort(keys, kind="stable")[:needed])


def test_any():
    for count in (0, 1, 9, 100):
        numbers = np.zeros(count, np.uint64)
        assert call_integer("sort_any", numbers, count) == 0
        if count:
            numbers[count - 1] = 1 << 40
            assert call_integer("sort_any", numbers, count) != 0
