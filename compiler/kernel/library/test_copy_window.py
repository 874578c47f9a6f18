"""Parts of images with zeros around them, against NumPy."""

import numpy as np
import pytest
from native_library import call


@pytest.mark.parametrize("kind", ["uint8", "float32", "float64"])
@pytest.mark.parametrize("features", [1, 3, 16, 67])
@pytest.mark.parametrize("taken", ["all", "some"])
@pytest.mark.parametrize("first", [(0, 0), (-1, -2), (3, 4), (-9, 1), (2, 30), (-4, -40)])
@pytest.mark.parametrize("count", [(1, 1), (3, 5), (9, 12)])
def test_window(kind, features, taken, first, count):
    image = np.arange(1, 1 + 6 * 7 * features).astype(kind).reshape(6, 7, features)
    begin, end = (0, features) if taken == "all" else (features // 2, features)
    want = np.zeros((*count, end - begin), kind)
    for i in range(count[0]):
        for j in range(count[1]):
            row, column = first[0] + i, first[1] + j
            if 0 <= row < 6 and 0 <= column < 7:
                want[i, j] = image[row, column, begin:end]
    size = image.itemsize
    # Whatever lies behind must stay.
    target = np.full(want.size + 16, 99, kind)
    call(
        "copy_window",
        None,
        target,
        *count,
        (end - begin) * size,
        image.reshape(-1)[begin:],
        7 * features * size,
        features * size,
        first[0],
        6,
        first[1],
        7,
    )
    np.testing.assert_array_equal(target[: want.size].reshape(want.shape), want)
    np.testing.assert_array_equal(target[want.size :], 99)
