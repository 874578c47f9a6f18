"""Rows of depthwise convolutions against NumPy in more digits, with padding, strides, dilation and weights in
either order, of parts of larger arrays."""

import itertools

import numpy as np
import pytest
from native_library import call

ROWS, COLUMNS = 5, 13


def convolve(x, w, places, first_row, first_column, stride, row_step, column_step):
    want = np.zeros((places, x.shape[2]), np.longdouble)
    taps = itertools.product(range(places), range(w.shape[0]), range(w.shape[1]))
    for place, i, j in taps:
        row = first_row + i * row_step
        column = first_column + place * stride + j * column_step
        if 0 <= row < x.shape[0] and 0 <= column < x.shape[1]:
            want[place] += x[row, column].astype(np.longdouble) * w[i, j]
    return want


def check(kind, channels, places, first, stride, steps, window, gap=3):
    draw = np.random.default_rng(channels * 100 + places).standard_normal
    # What lies between is no number, and is neither read nor written.
    memory = np.full((ROWS, COLUMNS, channels + gap), np.nan, kind)
    memory[:, :, :channels] = draw((ROWS, COLUMNS, channels))
    weights = np.full((*window, channels + 1), np.nan, kind)
    weights[:, :, :channels] = draw((*window, channels))
    got = np.full((places, channels + 2), 7, kind)
    distances = (COLUMNS * (channels + gap), channels + gap)
    of_weights = (window[1] * (channels + 1), channels + 1)
    call(
        "depthwise",
        kind,
        *(got, channels + 2, places, channels, memory, *distances, ROWS, COLUMNS),
        *(*first, stride, *steps, weights, *of_weights, *window),
    )
    assert (got[:, channels:] == 7).all()
    x, w = memory[:, :, :channels], weights[:, :, :channels]
    want = convolve(x, w, places, *first, stride, *steps)
    atol = 4 * window[0] * window[1] * np.finfo(kind).eps
    np.testing.assert_allclose(got[:, :channels], want.astype(kind), rtol=0, atol=4 * atol)


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("channels", [1, 3, 4, 7, 16, 29, 32, 64, 100, 131])
@pytest.mark.parametrize("places", [0, 1, 4, 13])
def test_channels(kind, channels, places):
    check(kind, channels, places, (-1, -1), 1, (1, 1), (3, 3))


@pytest.mark.parametrize("first", [(-4, -7), (0, 0), (3, 11), (7, 20), (-2, 0)])
@pytest.mark.parametrize("stride", [1, 2, 5])
@pytest.mark.parametrize("steps", [(1, 1), (2, 3), (1, 6)])
@pytest.mark.parametrize("window", [(1, 1), (3, 3), (1, 7), (4, 2), (9, 1)])
def test_windows(first, stride, steps, window):
    check("float32", 37, 9, first, stride, steps, window)


def test_backward_weights():
    x = np.arange(24.0).reshape(8, 3)
    w = np.array([[1.0, 2, 3], [10, 20, 30]])
    got = np.zeros((7, 3))
    call(
        "depthwise",
        "float64",
        *(got, 3, 7, 3, x, 0, 3, 1, 8, 0, 0, 1, 1, 1),
        *(w.reshape(-1)[3:].copy(), 0, 0, 1, 1),
    )
    np.testing.assert_array_equal(got, x[:7] * w[1])
    both = np.concatenate([w[0], w[1]])
    pointer = both[3:]
    call("depthwise", "float64", got, 3, 7, 3, x, 0, 3, 1, 8, 0, 0, 1, 1, 1, pointer, 0, -3, 1, 2)
    np.testing.assert_array_equal(got, x[:7] * w[1] + x[1:] * w[0])
