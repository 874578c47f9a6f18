"""Complex functions: finite arguments against mpmath, infinities and NaN
against NumPy, which calls the C library, but for exp."""

import ctypes
import itertools

import mpmath
import numpy as np
import pytest
from complex_judge import cancelling, limits, part_error
from native_library import _library

mp = mpmath.mp


def logistic(z):
    return 1 / (1 + mpmath.exp(-z))


def sign(z):
    return z / abs(z) if z else z


def cbrt(z):
    return mpmath.root(z, 3) if z else z


UNARY = {
    "exp": mpmath.exp,
    "expm1": lambda z: mpmath.exp(z) - 1,
    "log": mpmath.log,
    "log1p": lambda z: mpmath.log(1 + z),
    "logistic": logistic,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "tanh": mpmath.tanh,
    "sqrt": mpmath.sqrt,
    "rsqrt": lambda z: 1 / mpmath.sqrt(z),
    "cbrt": cbrt,
    "sign": sign,
}
TYPES = {"c64": (ctypes.c_float, np.float32), "c128": (ctypes.c_double, np.float64)}


def call(name, suffix, *numbers):
    real, dtype = TYPES[suffix]
    function = getattr(_library, f"alula_{name}_{suffix}")
    function.restype = None
    re, im = real(), real()
    parts = [real(part) for z in numbers for part in (z.real, z.imag)]
    function(*parts, ctypes.byref(re), ctypes.byref(im))
    return dtype(re.value), dtype(im.value)


def draw(dtype, count, seed, spread=20):
    random = np.random.RandomState(seed)
    parts = random.standard_normal((count, 2)) * 2.0 ** random.randint(-spread, 7, (count, 2))
    return [complex(dtype(re), dtype(im)) for re, im in parts]


def error_of(got, exact, dtype):
    """Of both parts, in units of the last place of the size."""
    size = abs(exact)
    if size == 0:
        return 0 if got == (0, 0) else np.inf
    off = abs(mpmath.mpc(float(got[0]), float(got[1])) - exact)
    smallest = mpmath.mpf(float(np.finfo(dtype).smallest_subnormal))
    return float(off / max(size * float(np.finfo(dtype).eps), smallest))


def inputs(name, dtype):
    near_one = [1 + z * 2.0**-10 for z in draw(dtype, 100, 7)]
    near_minus_one = [z - 1 for z in draw(dtype, 100, 8, 30)]
    circle = [complex(dtype(np.cos(a)), dtype(np.sin(a))) for a in np.linspace(0, 6.28, 100)]
    small = [z * 2.0**-30 for z in draw(dtype, 50, 9)]
    top = float(np.finfo(dtype).max)
    ends = [
        complex(a * top, b * top)
        for a, b in itertools.product([1, 0.75, -0.5, 1e-3], [1, 0.6, -1e-2])
    ]
    tiny = float(np.finfo(dtype).tiny)
    ends += [
        complex(a * tiny, b * tiny) for a, b in itertools.product([1, -0.25, 3], [1, 0.6, -0.125])
    ]
    every = draw(dtype, 400, 1) + near_one + near_minus_one + circle + small
    if name in ("log", "sqrt", "rsqrt", "cbrt", "sign", "log1p"):
        every += ends
    return [complex(dtype(z.real), dtype(z.imag)) for z in every]


@pytest.mark.parametrize("suffix", TYPES)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name, suffix):
    dtype = TYPES[suffix][1]
    bound = 1 if suffix == "c64" else 4
    worst = (0, None)
    # 1 + z has to keep the smallest z.
    with mp.workprec(1200 if name in ("log1p", "expm1") else 400):
        for z in inputs(name, dtype):
            exact = UNARY[name](mpmath.mpc(z))
            if abs(exact) >= float(np.finfo(dtype).max):
                continue
            got = call(name, suffix, z)
            worst = max(worst, (error_of(got, exact, dtype), (z, got)), key=lambda pair: pair[0])
    assert worst[0] <= bound, worst


@pytest.mark.parametrize("suffix", TYPES)
@pytest.mark.parametrize("name", ["multiply", "divide", "pow", "atan2"])
def test_binary(name, suffix):
    dtype = TYPES[suffix][1]
    exact_of = {
        "multiply": lambda a, b: a * b,
        "divide": lambda a, b: a / b,
        "pow": lambda a, b: a**b,
        "atan2": lambda y, x: -1j * mpmath.log((x + 1j * y) / mpmath.sqrt(x * x + y * y)),
    }[name]
    # atan2 of complex<f64> loses what the steps between lose.
    bound = {"multiply": 3, "divide": 2, "pow": 6, "atan2": 1e7}[name] if suffix == "c128" else 2
    top = float(np.finfo(dtype).max)
    worst = (0, None)
    with mp.workprec(300):
        for a, b in zip(draw(dtype, 500, 3, 6), draw(dtype, 500, 4, 6)):
            if name == "divide":
                a, b = a * 2.0**90, b * 2.0**100
                if suffix == "c128":
                    a, b = a * 2.0**900, b * 2.0**900
            if name == "pow":
                a, b = a / 8, b / 16
            a, b = (complex(dtype(z.real), dtype(z.imag)) for z in (a, b))
            exact = exact_of(mpmath.mpc(a), mpmath.mpc(b))
            if not 1 / top < abs(exact) < top:
                continue
            if name == "atan2" and abs(exact.real) > 3.14:
                continue
            got = call(name, suffix, a, b)
            worst = max(worst, (error_of(got, exact, dtype), (a, b, got)), key=lambda pair: pair[0])
    assert worst[0] <= bound, worst


@pytest.mark.parametrize("suffix", TYPES)
@pytest.mark.parametrize("name", [name for name in UNARY if name != "logistic"])
def test_both_parts_at_the_limits(name, suffix):
    dtype = TYPES[suffix][1]
    grows = {"exp": "real", "expm1": "real", "tanh": "real"}
    grows |= dict.fromkeys(["sin", "cos", "tan"], "imag")
    worst = (0, None)
    with mp.workprec(2400 if name in ("log1p", "expm1") else 1200):
        for z in limits(dtype) + cancelling(dtype):
            # mpmath has no numbers of that size; 0 has no logarithm.
            if name in grows and abs(getattr(z, grows[name])) > 3000:
                continue
            if z == 0 and name in ("log", "rsqrt") or z == -1 and name == "log1p":
                continue
            exact = mpmath.mpc(UNARY[name](mpmath.mpc(z)))
            got = call(name, suffix, z)
            # Branch cuts follow the sign of zero, which mpmath hasn't.
            if z.imag == 0 and np.signbit(z.imag) and z.real < 0:
                exact = exact.conjugate()
            errors = part_error(got[0], exact.real, dtype), part_error(got[1], exact.imag, dtype)
            worst = max(worst, (max(errors), (z, got)), key=lambda pair: pair[0])
    bound = 1 if suffix == "c64" else 4 if name in ("tan", "tanh") else 3
    assert worst[0] <= bound, worst


SPECIAL_PARTS = [0.0, -0.0, 1.0, -1.0, 2.5, np.inf, -np.inf, np.nan]


def agrees(got, expected):
    def same(a, b):
        if np.isnan(a) or np.isnan(b):
            return np.isnan(a) and np.isnan(b)
        return a == b if np.isinf(b) or b == 0 else abs(a - b) <= abs(b) * 1e-6

    def signs(a, b):
        return np.isnan(a) or np.signbit(a) == np.signbit(b)

    return all(same(a, b) and signs(a, b) for a, b in zip(got, expected))


# What C leaves open: signs of infinities next to NaN, and the zeros there.
def is_open(name, z, expected):
    re, im = expected
    if np.isnan(re) or np.isnan(im):
        return np.isinf(re) or np.isinf(im) or re == 0 or im == 0
    return (
        np.isinf(z.real) and not np.isfinite(z.imag) or np.isinf(z.imag) and not np.isfinite(z.real)
    )


@pytest.mark.parametrize("suffix", TYPES)
@pytest.mark.parametrize("name", ["exp", "log", "sin", "cos", "tan", "tanh", "sqrt"])
def test_special_values(name, suffix):
    wrong = []
    for re, im in itertools.product(SPECIAL_PARTS, repeat=2):
        z = complex(re, im)
        with np.errstate(all="ignore"):
            result = getattr(np, name)(np.array(z, np.complex128))
        expected = (float(result.real), float(result.imag))
        # As in mpmath and XLA; C has infinity, or 0, in one part or both.
        if name == "exp" and not np.isfinite(im):
            expected = (np.nan, np.nan)
        # As in XLA, at a zero too, where C keeps the zero.
        phase, other = (re, im) if name == "tan" else (im, re)
        if name in ("tan", "tanh") and not np.isfinite(phase) and np.isfinite(other):
            expected = (np.nan, np.nan)
        got = call(name, suffix, z)
        if is_open(name, z, expected):
            # The kinds of numbers are the same even so.
            if [np.isnan(p) for p in got] != [np.isnan(p) for p in expected]:
                wrong.append((z, got, expected))
        elif not agrees(got, expected):
            wrong.append((z, got, expected))
    assert not wrong, wrong[:8]


@pytest.mark.parametrize("suffix", TYPES)
def test_abs(suffix):
    real, dtype = TYPES[suffix]
    function = getattr(_library, f"alula_abs_{suffix}")
    function.restype, function.argtypes = real, [real, real]
    top, tiny = float(np.finfo(dtype).max), float(np.finfo(dtype).tiny)
    pairs = [(z.real, z.imag) for z in draw(dtype, 500, 5)]
    pairs += [(top / 2, top / 3), (tiny / 8, tiny / 16), (0, -2), (top, 0), (3, 4), (-0.0, 0)]
    with mp.workprec(200):
        for re, im in pairs:
            re, im = dtype(re), dtype(im)
            exact = mpmath.hypot(float(re), float(im))
            assert error_of((function(re, im), 0), exact, dtype) <= 1, (re, im)
    for re, im in [(np.inf, np.nan), (np.nan, -np.inf), (np.inf, 1)]:
        assert function(re, im) == np.inf
    assert np.isnan(function(np.nan, 1))


@pytest.mark.parametrize("suffix", TYPES)
def test_quotients_at_the_ends(suffix):
    inf, nan = np.inf, np.nan
    for a, b, expected in [
        (1 + 1j, 0, (inf, inf)),
        (complex(inf, 1), 1 + 0j, (inf, nan)),
        (1 + 1j, complex(inf, 0), (0, 0)),
        (1 + 1j, complex(inf, nan), (0, 0)),
    ]:
        got = call("divide", suffix, complex(a), complex(b))
        for part, wanted in zip(got, expected):
            if not np.isnan(wanted):
                assert part == wanted, (a, b, got)
