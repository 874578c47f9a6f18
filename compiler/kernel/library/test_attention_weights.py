"""Weights of rows of scores against NumPy in more digits; what is outside of a row stays."""

import ml_dtypes
import numpy as np
import pytest
from native_library import call, call_integer

LINE = 75
TYPES = {"float32": np.float32, "bfloat16": ml_dtypes.bfloat16}
ENDS = [(0, 70), (3, 3), (5, 6), (1, 66), (16, 48)]


def draw(rows, low, high):
    """What is outside of a row is no number, and neighbours of the results are seven."""
    scores = np.full((rows, LINE), np.nan, np.float32)
    scores[:, low:high] = np.random.default_rng(rows).standard_normal((rows, high - low)) * 20
    return scores, np.full(rows + 1, 7, np.float32)


def weigh(kind, scores, low, high, maxima, sums, references=None, values=None, columns=0):
    weights = scores if kind == "float32" else np.zeros(scores.shape, ml_dtypes.bfloat16)
    rows = len(scores)
    name = "f32" if kind == "float32" else "bf16"
    call(f"attention_weigh_{name}", None, scores, weights, LINE, rows, low, high, maxima, sums,
         references, values, columns)  # fmt: skip
    return weights.astype(np.float64)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("rows", [0, 1, 5])
@pytest.mark.parametrize("low,high", ENDS)
def test_all_keys(kind, rows, low, high):
    scores, sums = draw(rows, low, high)
    maxima = np.max(scores[:, low:high], axis=1, initial=-30).astype(np.float32)
    want = np.exp((scores[:, low:high] - maxima[:, None]).astype(np.float64))
    got = weigh(kind, scores, low, high, maxima, sums)
    error = 3e-7 if kind == "float32" else 2.0**-8
    np.testing.assert_allclose(got[:, low:high], want, rtol=error, atol=1e-38)
    np.testing.assert_allclose(sums[:-1], want.sum(1), rtol=2e-6)
    assert sums[-1] == 7
    if kind == "float32":
        assert np.isnan(scores[:, :low]).all() and np.isnan(scores[:, high:]).all()
    else:
        assert not got[:, :low].any() and not got[:, high:].any()


@pytest.mark.parametrize("kind", TYPES)
def test_more_keys(kind):
    """Sums and values are scaled to the new maximum, from none at first."""
    rows, columns, low, high = 6, 9, 2, 60
    scores, sums = draw(rows, low, high)
    scores[4] = scores[5] = -np.inf
    before = np.array([3, -200, -np.inf, 90, 1, -np.inf], np.float32)
    maxima = np.maximum(before, scores[:, low:high].max(1))
    sums[:-1] = np.where(np.isinf(before), 0, 2)
    values = np.where(np.isinf(before), 0, 1)[:, None] * np.arange(columns, dtype=np.float32)
    values = np.append(values, np.full((1, columns), 7), 0).astype(np.float32)
    references = before.copy()
    reference = np.where(np.isinf(maxima), np.float32(0), maxima)
    factors = np.exp((before - reference).astype(np.float64))
    want = np.exp((scores[:, low:high] - reference[:, None]).astype(np.float64))
    total = sums[:-1] * factors + want.sum(1)
    scaled = values[:-1] * factors[:, None]
    weigh(kind, scores, low, high, maxima, sums, references, values, columns)
    np.testing.assert_allclose(sums[:-1], total, rtol=2e-6)
    np.testing.assert_allclose(values[:-1], scaled, rtol=2e-6, atol=1e-38)
    np.testing.assert_array_equal(references, maxima)
    assert (values[-1] == 7).all() and sums[-1] == 7


def show(kind, hidden, scores, low, high, maxima, values, transposed):
    memory = values.T.copy() if transposed else values.copy()
    row, column = (1, len(values)) if transposed else (values.shape[1], 1)
    count, columns = values.shape
    name = "f32" if kind == "float32" else "bf16"
    return call_integer(f"attention_show_{name}", np.float32(hidden), scores, LINE, len(scores), low,
                high, count, maxima, memory, row, column, columns)  # fmt: skip


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("low,high", ENDS)
def test_hidden_keys(kind, low, high, transposed):
    count, columns = 70, 19
    values = np.random.default_rng(0).standard_normal((count, columns)).astype(TYPES[kind])
    scores, maxima = draw(4, low, high)[0], np.array([0, 3, 1, 2], np.float32)
    first = scores.copy()

    def check(hidden, counts, row=None, number=None, maximum=0.0):
        scores[:] = first
        here, most = values.copy(), maxima.copy()
        most[2] = maximum
        if row is not None:
            here[row, columns - 1] = number
        outside = (low > 0) or (high < count)
        got = show(kind, hidden, scores, low, high, most, here, transposed)
        want = first.copy()
        if counts and outside:
            want[:, :low] = want[:, high:count] = hidden
        assert got == (counts and outside)
        np.testing.assert_array_equal(scores, want)

    check(-1e9, False)
    check(-np.inf, False)
    check(-104.0, True)
    check(-1e9, True, maximum=-1e9)
    check(-np.inf, True, maximum=-np.inf)
    check(-1e9, True, maximum=np.nan)
    largest = float(np.finfo(np.float32).max if kind == "float32" else 3e38)
    for number in (np.nan, np.inf, -np.inf, largest):
        for row in {0, low - 1, high, count - 1} - {-1, count}:
            isHidden = row < low or row >= high
            check(-1e9, isHidden and not np.isfinite(number), row, number)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("rows,columns", [(0, 4), (1, 1), (3, 16), (7, 33)])
def test_results(kind, rows, columns, transposed):
    draws = np.random.default_rng(columns)
    values = draws.standard_normal((rows, columns)).astype(np.float32)
    sums = draws.uniform(0.5, 4, rows).astype(np.float32)
    to = np.full((columns, rows + 1) if transposed else (rows, columns + 1), 7, TYPES[kind])
    steps = (1, rows + 1) if transposed else (columns + 1, 1)
    name = "f32" if kind == "float32" else "bf16"
    call(f"attention_finish_{name}", None, to, *steps, values, sums, rows, columns)
    got = to.T if transposed else to
    want = (values / sums[:, None]).astype(TYPES[kind])
    np.testing.assert_array_equal(got[:rows, :columns], want)
    assert (to[:, -1] == 7).all()
