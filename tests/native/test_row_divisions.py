"""Rows that are divided by one number each: quotients are NumPy's, bit for bit, where
products with inverses take the place of divisions too."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax_functions
import numpy as np
import pytest

pytestmark = jax_functions.needs_build
tools = jax_functions.tools
ROWS, COLUMNS = 300, 1100


def find_hard_dividends(divisor, least=1 << 23, most=1 << 24):
    """Significands whose quotients by an odd one are nearest to the middle of two floats."""
    for bits in 24, 25:
        inverse = pow(divisor, -1, 1 << bits)
        for rest in -3, -1, 1, 3:
            # middle * divisor + rest = dividend << bits
            middle = -rest * inverse % (1 << bits)
            middle += (1 << 24) if middle < 1 << 24 else 0
            dividend = (middle * divisor + rest) >> bits
            if middle < 1 << 25 and least <= dividend < most:
                yield dividend


def make_hard():
    draws = np.random.default_rng(0)
    divisors = draws.integers(1 << 23, 1 << 24, ROWS) | 1
    divisors[:4] = (1 << 24) - 1, (1 << 24) - 3, (1 << 23) + 1, (1 << 23) + 3
    x = draws.integers(1 << 23, 1 << 24, (ROWS, COLUMNS)).astype(np.float32)
    for row, divisor in enumerate(divisors):
        hard = list(find_hard_dividends(int(divisor)))
        x[row, : len(hard)] = hard
    signs = draws.choice(np.float32([-1, 1]), (ROWS, COLUMNS))
    scale = np.exp2(draws.integers(-30, 30, (ROWS, COLUMNS))).astype(np.float32)
    return x * signs * scale, divisors.astype(np.float32) * np.float32(2**-23)


def make_any():
    """All bit patterns, in rows with them and in rows but for them."""
    draws = np.random.default_rng(1)
    x = draws.integers(0, 1 << 32, (ROWS, COLUMNS), np.uint32).view(np.float32)
    x[::2] = draws.standard_normal((ROWS // 2, COLUMNS))
    x[::4, ::7] = 0
    x[1::4, ::5] = -0.0
    divisors = draws.integers(0, 1 << 32, ROWS, np.uint32).view(np.float32)
    divisors[::3] = draws.uniform(-100, 100, ROWS // 3)
    divisors[:8] = 0, -0.0, np.inf, -np.inf, np.nan, 2**-149, 2**-126, 3.4e38
    return x, divisors


def make_exponents():
    """Each exponent of a dividend with each that a divisor may have, and its neighbours."""
    draws = np.random.default_rng(2)
    exponents = np.arange(COLUMNS) % 277 - 149
    x = draws.uniform(1, 2, (ROWS, COLUMNS)) * np.exp2(exponents)
    divisors = draws.uniform(1, 2, ROWS) * np.exp2(np.arange(ROWS) % 50 - 25)
    return x.astype(np.float32), divisors.astype(np.float32)


@pytest.mark.parametrize("make", [make_hard, make_any, make_exponents])
@pytest.mark.parametrize("target", ["cpu:host", "cpu:x86-64-v3"])
def test_rows_by_one_number_each(tools, make, target):
    x, divisors = make()
    with np.errstate(all="ignore"):
        want = x / divisors[:, None]
    got = jax_functions.run(tools, lambda x, y: x / y[:, None], [x, divisors], target)[0]
    is_nan = np.isnan(want)
    np.testing.assert_array_equal(np.isnan(got), is_nan)
    np.testing.assert_array_equal(got.view(np.uint32)[~is_nan], want.view(np.uint32)[~is_nan])
