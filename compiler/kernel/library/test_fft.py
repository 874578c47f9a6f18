"""Fourier transforms against scipy.fft in long double; the error of
NumPy's and SciPy's own transforms in the same type is the measure."""

import ctypes

import numpy as np
import pytest
import scipy.fft
from native_library import Scratch, call, random_matrix, size

FFT, IFFT, RFFT, IRFFT = range(4)
LARGEST_FACTOR = 61
LENGTHS = [
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    12,
    13,
    15,
    16,
    30,
    31,
    37,
    49,
    60,
    64,
    74,
    97,
    100,
    121,
    128,
    210,
    243,
]
LENGTHS += [
    251,
    256,
    509,
    961,
    1000,
    1024,
    1009,
    2018,
    2310,
    2048,
    4096,
    4097,
    5003,
    6561,
    10007,
    30030,
]


def is_smooth(n):
    for p in range(2, LARGEST_FACTOR + 1):
        while n > 1 and n % p == 0:
            n //= p
    return n <= 1


def plan_bytes(kind, lengths, complex_bytes):
    return size("fft_plan_bytes", np.int32(kind), len(lengths), np.array(lengths), complex_bytes)


def scratch_bytes(kind, lengths, complex_bytes):
    return size("fft_scratch_bytes", np.int32(kind), len(lengths), np.array(lengths), complex_bytes)


def transform(kind, x, lengths, in_place=False):
    real = x.real.dtype
    complex_bytes = 2 * real.itemsize
    dims = np.array(lengths, np.int64)
    plan = Scratch(plan_bytes(kind, lengths, complex_bytes))
    plan_scratch = Scratch(len(plan.bytes))
    call("fft_plan", real, plan.bytes, np.int32(kind), len(lengths), dims, plan_scratch.bytes)
    plan.check()
    plan_scratch.check()
    scratch = Scratch(scratch_bytes(kind, lengths, complex_bytes))
    batch = x.shape[: x.ndim - len(lengths)]
    shape = list(lengths)
    if kind == RFFT:
        shape[-1] = shape[-1] // 2 + 1 if shape[-1] else 0
    out = np.full(
        batch + tuple(shape), np.nan, real if kind == IRFFT else np.result_type(real, np.complex64)
    )
    out = x.copy() if in_place else out
    call("fft", real, out if in_place else x, out, plan.bytes, int(np.prod(batch)), scratch.bytes)
    scratch.check()
    return out


def expected(kind, x, lengths):
    axes = tuple(range(x.ndim - len(lengths), x.ndim))
    if kind == FFT:
        return scipy.fft.fftn(x, axes=axes)
    if kind == IFFT:
        return scipy.fft.ifftn(x, axes=axes)
    if kind == RFFT:
        return scipy.fft.rfftn(x, axes=axes)
    # Along the last dimension last, as StableHLO has it.
    x = scipy.fft.ifftn(x, axes=axes[:-1]) if len(axes) > 1 else x
    return scipy.fft.irfft(x, lengths[-1])


def make_input(kind, batch, lengths, real):
    shape = list(lengths)
    if kind == IRFFT:
        shape[-1] = shape[-1] // 2 + 1
    dtype = real if kind == RFFT else np.result_type(real, np.complex64)
    return random_matrix((*batch, *shape), dtype, sum(lengths))


def error(x, truth):
    return float(np.linalg.norm((x - truth).ravel()) / np.linalg.norm(truth.ravel()))


def check(kind, batch, lengths, real, in_place=False):
    x = make_input(kind, batch, lengths, real)
    truth = expected(kind, x.astype(np.result_type(x.dtype, np.longdouble)), lengths)
    result = transform(kind, x, lengths, in_place)
    assert result.shape == truth.shape
    epsilon = float(np.finfo(real).eps)
    peer = error(expected(kind, x, lengths), truth)
    # Small lengths are exact by luck in one or the other.
    # Convolutions round more than the direct sums that SciPy takes for
    # primes as small as 97.
    factor = 1.7 if all(map(is_smooth, lengths)) else 2.5
    assert error(result, truth) <= max(factor * peer, epsilon), (kind, lengths)


@pytest.mark.parametrize("kind", range(4))
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_lines(real, kind):
    for n in LENGTHS:
        check(kind, (3,) if n < 100 else (), [n], real)


@pytest.mark.parametrize("kind", range(4))
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_more_dimensions(real, kind):
    for lengths in [
        (4, 6),
        (17, 9),
        (3, 37),
        (5, 1),
        (1, 5),
        (37, 5, 8),
        (3, 20, 7),
        (2, 4096),
        (3000, 2),
    ]:
        check(kind, (2,), list(lengths), real)


@pytest.mark.parametrize("batch", [1, 7, 8, 9, 33])
def test_batches(batch):
    for kind in range(4):
        check(kind, (batch,), [30], np.float64)


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("kind", range(4))
def test_lines_that_fill_vectors(kind, real):
    """Some lanes, all of them, more; every radix; convolutions; long lines, short steps."""
    for batch in (3, 4, 15, 16, 17, 36):
        check(kind, (batch,), [8], real)
    for n in (
        2,
        3,
        5,
        7,
        9,
        27,
        45,
        60,
        77,
        169,
        37,
        62,
        67,
        134,
        512,
        999,
        1000,
        1009,
        2048,
        2050,
    ):
        check(kind, (19,), [n], real)
    check(kind, (), [509, 24], real)
    check(kind, (2,), [5003, 9], real)


def test_nan_stays_in_its_lane():
    for n in (37, 67):
        x = random_matrix((20, n), np.complex64)
        x[3, 5] = np.nan
        result = transform(FFT, x, [n])
        assert np.isnan(result[3]).all() and np.isfinite(np.delete(result, 3, axis=0)).all()


def test_plans_have_no_room_for_more():
    """A large transform's plan is its roots."""
    assert plan_bytes(FFT, [1 << 18], 8) < 8.02 * (1 << 18)


@pytest.mark.parametrize("kind", [FFT, IFFT])
def test_in_place(kind):
    for lengths in [[8], [37], [4096], [8192], [5003], [12, 35]]:
        check(kind, (2,), lengths, np.float64, in_place=True)


@pytest.mark.parametrize("kind", range(4))
def test_nothing(kind):
    for lengths in [[0], [3, 0], [0, 3]]:
        shape = list(lengths)
        if kind == IRFFT and shape[-1]:
            shape[-1] = shape[-1] // 2 + 1
        x = np.zeros((2, *shape), np.float64 if kind == RFFT else np.complex128)
        transform(kind, x, lengths)


@pytest.mark.parametrize("n", [8, 9])
def test_inverse_of_what_no_real_signal_has(n):
    x = random_matrix((n // 2 + 1,), np.complex128)
    clean = x.copy()
    clean[0] = x[0].real
    if n % 2 == 0:
        clean[-1] = x[-1].real
    assert np.allclose(transform(IRFFT, x, [n]), np.fft.irfft(clean, n), atol=1e-15)


def test_nan_stays_in_its_row():
    x = random_matrix((20, 37), np.complex128)
    x[3, 5] = np.nan
    result = transform(FFT, x, [37])
    assert np.isnan(result[3]).all() and np.isfinite(np.delete(result, 3, axis=0)).all()


def test_plans_are_the_same_bytes():
    plans = []
    for fill in (0x00, 0xFF):
        count = plan_bytes(FFT, [74], 16)
        plan, scratch = np.full(count, fill, np.uint8), np.full(count, fill, np.uint8)
        call("fft_plan", np.float64, plan, np.int32(FFT), 1, np.array([74]), scratch)
        plans.append(ctypes.string_at(plan.ctypes.data, count))
    assert plans[0] == plans[1]


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_plan_and_transform_at_once(real):
    x = random_matrix((3, 74), np.result_type(real, np.complex64))
    bytes_of = plan_bytes(FFT, [74], x.itemsize), scratch_bytes(FFT, [74], x.itemsize)
    plan, scratch = Scratch(bytes_of[0]), Scratch(max(bytes_of))
    out, dims = np.empty_like(x), np.array([74])
    call("fft_planned", real, x, out, plan.bytes, np.int32(FFT), 1, dims, 3, scratch.bytes)
    plan.check()
    scratch.check()
    np.testing.assert_array_equal(out, transform(FFT, x, [74]))
