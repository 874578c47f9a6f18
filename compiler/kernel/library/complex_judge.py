"""Complex numbers at which functions go wrong, and a judge of their results."""

import mpmath
import numpy as np


def limits(dtype):
    """Signed zeros, denormals, the ends of the range and where functions turn."""
    info = np.finfo(dtype)
    top, tiny, eps = float(info.max), float(info.tiny), float(info.eps)
    root, end = np.sqrt(top), np.log(top)
    sizes = [0.0, float(info.smallest_subnormal), 0.75 * tiny, 1 / root, 1e-3, 0.5]
    sizes += [1 - eps / 2, 1.0, np.pi / 2, 20.0, 0.9995 * end, 1.3 * end, root, top]
    parts = [sign * float(dtype(size)) for size in sizes for sign in (1, -1)]
    return [complex(re, im) for re in parts for im in parts]


def cancelling(dtype):
    """Beside the circles around 0 and -1, ±1, ±i, and where log1p has no size."""
    random = np.random.RandomState(5)
    eps = float(np.finfo(dtype).eps)
    circle = [
        (1 + off) * np.exp(1j * angle)
        for angle in np.linspace(0.1, 6.2, 16)
        for off in (0, 1e-3, 3 * eps)
    ]
    near = [
        centre + complex(*random.standard_normal(2)) * 2.0 ** -random.randint(1, 60)
        for centre in (0, 1, -1, 1j, -1j, -2)
        for _ in range(8)
    ]
    log1p = [complex(-y * y / 2, y) for y in 1.3 * 2.0 ** -np.arange(1, 60, 3)]
    every = circle + [z - 1 for z in circle] + near + log1p
    return [complex(dtype(z.real), dtype(z.imag)) for z in every]


def part_error(got, exact, dtype):
    """Of one part, in units of its own last place."""
    info = np.finfo(dtype)
    top, eps = mpmath.mpf(float(info.max)), mpmath.mpf(float(info.eps))
    if not np.isfinite(got):
        # Beyond the largest number, or so near that rounding leads there.
        return 0 if got * exact > 0 and abs(exact) > top * (1 - eps) else np.inf
    unit = mpmath.mpf(float(info.smallest_subnormal))
    if exact:
        exponent = int(mpmath.floor(mpmath.log(abs(exact), 2)))
        unit = max(unit, mpmath.ldexp(1, exponent - info.nmant))
    return float(abs(mpmath.mpf(float(got)) - exact) / unit)
