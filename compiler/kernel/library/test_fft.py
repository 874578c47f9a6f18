"""Fourier transforms against scipy.fft in long double; the error of
NumPy's and SciPy's own transforms in the same type is the measure."""


import numpy as np
import pytest
import scipy.fft
from native_library import Scratch, call, random_matrix, size

FFT, IFFT, RFFT, IRFFT = range(4)
LARGEST_FACTOR = 127
ALL_STEPS = -1
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


def plan_bytes(kind, lengths, arrays, complex_bytes):
    return size(
        "fft_plan_bytes", np.int32(kind), len(lengths), np.array(lengths), arrays, complex_bytes
    )


def make_plan(kind, lengths, arrays, real):
    dims, complex_bytes = np.array(lengths, np.int64), 2 * np.dtype(real).itemsize
    plan = Scratch(plan_bytes(kind, lengths, arrays, complex_bytes))
    scratch = Scratch(
        size("fft_plan_scratch_bytes", np.int32(kind), len(lengths), dims, complex_bytes)
    )
    call("fft_plan", real, plan.bytes, np.int32(kind), len(lengths), dims, arrays, scratch.bytes)
    plan.check()
    scratch.check()
    return plan.bytes


def transform(kind, x, lengths, in_place=False, how="steps"):
    """By steps, whose blocks may go in any order; or each array at once, of a plan for one
    array or for nobody knows how many."""
    real = x.real.dtype
    complex_bytes = 2 * real.itemsize
    dims = np.array(lengths, np.int64)
    batch = x.shape[: x.ndim - len(lengths)]
    number = int(np.prod(batch))
    arrays = {"steps": number, "arrays": 1, "unknown": 0}[how]
    shape = list(lengths)
    if kind == RFFT:
        shape[-1] = shape[-1] // 2 + 1 if shape[-1] else 0
    out = np.full(
        batch + tuple(shape), np.nan, real if kind == IRFFT else np.result_type(real, np.complex64)
    )
    out = x.copy() if in_place else out
    about = np.int32(kind), len(lengths), dims, arrays, complex_bytes
    plan = make_plan(kind, lengths, arrays, real)
    shared = Scratch(size("fft_shared_bytes", *about))

    def run(arrays, step, block):
        scratch = Scratch(size("fft_scratch_bytes", *about))
        call(
            "fft",
            real,
            out if in_place else x,
            out,
            plan,
            arrays,
            step,
            block,
            shared.bytes,
            scratch.bytes,
        )
        scratch.check()

    if how != "steps":
        for array in range(number):
            run(1, ALL_STEPS, array)
    elif number and np.prod(lengths):
        for step in range(size("fft_steps", *about)):
            for block in reversed(range(size("fft_blocks", *about, step))):
                run(number, step, block)
    shared.check()
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


def check(kind, batch, lengths, real, in_place=False, how="steps"):
    x = make_input(kind, batch, lengths, real)
    truth = expected(kind, x.astype(np.result_type(x.dtype, np.longdouble)), lengths)
    result = transform(kind, x, lengths, in_place, how)
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


def test_plans_are_small():
    """A long line's plan has a root for each block of numbers; a convolution's has the chirp and
    its spectrum."""
    assert plan_bytes(FFT, [1 << 18], 1, 8) < (1 << 18) * 8 / 5
    assert plan_bytes(FFT, [1 << 26], 1, 8) < 8 << 20
    assert plan_bytes(FFT, [100_003], 1, 8) < 100_003 * 8 * 4


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


@pytest.mark.parametrize("n", [74, 134, 4099, 1 << 21])
def test_plans_are_the_same_bytes(n):
    plans = []
    for fill in (0x00, 0xFF):
        plan = np.full(plan_bytes(FFT, [n], 1, 16), fill, np.uint8)
        count = size("fft_plan_scratch_bytes", np.int32(FFT), 1, np.array([n]), 16)
        scratch = np.full(count, fill, np.uint8)
        call("fft_plan", np.float64, plan, np.int32(FFT), 1, np.array([n]), 1, scratch)
        plans.append(plan.tobytes())
    assert plans[0] == plans[1]


@pytest.mark.parametrize("kind", range(4))
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_plan_and_transform_at_once(real, kind):
    for lengths in ([74], [5003], [6, 5000]):
        x = make_input(kind, (3,), lengths, real)
        complex_bytes = 2 * np.dtype(real).itemsize
        dims, about = np.array(lengths), (np.int32(kind), len(lengths), np.array(lengths))
        plan = Scratch(plan_bytes(kind, lengths, 1, complex_bytes))
        scratch = Scratch(
            max(
                size("fft_plan_scratch_bytes", *about, complex_bytes),
                size("fft_scratch_bytes", *about, 1, complex_bytes),
            )
        )
        shared = Scratch(size("fft_shared_bytes", *about, 1, complex_bytes))
        wanted = transform(kind, x, lengths, how="arrays")
        out = np.empty_like(wanted)
        call(
            "fft_planned",
            real,
            x,
            out,
            plan.bytes,
            np.int32(kind),
            len(lengths),
            dims,
            3,
            shared.bytes,
            scratch.bytes,
        )
        for memory in (plan, scratch, shared):
            memory.check()
        np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("how", ["steps", "arrays", "unknown"])
@pytest.mark.parametrize("kind", range(4))
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_split_lines(real, kind, how):
    """Squares, tall and flat matrices, ends that fill no vector, prime factors, convolutions."""
    for n in (256, 300, 512, 1000, 1009, 2018, 2049, 4096, 4098, 4100, 10403, 5003, 10006):
        check(kind, (2,), [n], real, how=how)
    for n in (8192, 9999, 3 * 1009, 4099):
        check(kind, (9,), [n], real, how=how)
    # Odd real lines go in pairs.
    for n in (3999, 4099):
        check(kind, (10,), [n], real, how=how)


@pytest.mark.parametrize("how", ["steps", "arrays"])
@pytest.mark.parametrize("kind", range(4))
def test_split_lines_of_planes(kind, how):
    for lengths in [(3, 4096), (20, 3000), (2, 3, 2501), (2, 5003)]:
        check(kind, (2,), list(lengths), np.float32, how=how)


@pytest.mark.parametrize("kind", range(4))
def test_more_roots_than_a_table_has(kind):
    check(kind, (), [3 << 20], np.float32)
    check(kind, (), [1 << 20], np.float64)
