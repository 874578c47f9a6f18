"""Transposes against NumPy, of parts of larger matrices."""

import numpy as np
import pytest
from native_library import call


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("rows", [0, 1, 7, 8, 9, 40])
@pytest.mark.parametrize("columns", [0, 1, 8, 15, 64])
def test_transpose(bits, rows, columns):
    kind = np.dtype(f"uint{bits}")
    source = np.arange((columns + 1) * (rows + 3)).astype(kind).reshape(columns + 1, rows + 3)
    target = np.full((rows + 1, columns + 5), 201, kind)
    want = target.copy()
    want[:rows, :columns] = source[:columns, :rows].T
    call(f"transpose_{bits}", None, target, columns + 5, source, rows + 3, rows, columns)
    np.testing.assert_array_equal(target, want)
