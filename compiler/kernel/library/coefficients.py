"""Writes coefficients.h: the polynomials and tables of the kernel library.

Polynomials are minimax fits by the Remez exchange, with the weight that makes
the error of the function relative. Leading coefficients are rounded first and
the others fitted again around them. Needs mpmath; run with the path to write.
"""

import struct
import sys

from mpmath import (
    atan,
    cos,
    erf,
    erfc,
    exp,
    expm1,
    floor,
    log,
    log1p,
    lu_solve,
    matrix,
    mp,
    mpf,
    nint,
    pi,
    sin,
    sqrt,
)

mp.prec = 400


def to_double(x):
    return mpf(float(x))


def to_float(x):
    return mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def exchange(function, weight, powers, low, high):
    """Minimax coefficients of x**p for p in powers; error is weighted."""
    count = len(powers) + 1
    points = [
        (low + high) / 2 - (high - low) / 2 * cos(pi * (2 * i + 1) / (2 * count))
        for i in range(count)
    ]
    # Weights vanish at zero.
    points = [x if abs(x) > (high - low) / 1000 else (high - low) / 1000 for x in points]
    grid = [low + (high - low) * (1 - cos(pi * i / 600)) / 2 for i in range(601)]
    grid = [x for x in grid if abs(x) > (high - low) / 10**7]
    values = [(x, function(x), weight(x)) for x in grid]
    for _ in range(30):
        rows = matrix(count, count)
        right = matrix(count, 1)
        for i, x in enumerate(points):
            for j, power in enumerate(powers):
                rows[i, j] = x**power
            rows[i, count - 1] = (-1) ** i / weight(x)
            right[i] = function(x)
        solution = lu_solve(rows, right)
        coefficients = [solution[i] for i in range(len(powers))]
        errors = [
            (w * (sum(c * x**p for c, p in zip(coefficients, powers)) - f), x) for x, f, w in values
        ]
        # The largest error of each run of one sign; then the best such runs.
        peaks = []
        for error, x in errors:
            if peaks and (peaks[-1][0] > 0) == (error > 0):
                if abs(error) > abs(peaks[-1][0]):
                    peaks[-1] = (error, x)
            else:
                peaks.append((error, x))
        while len(peaks) > count:
            peaks.pop(0 if abs(peaks[0][0]) < abs(peaks[-1][0]) else -1)
        if len(peaks) < count:
            break
        points = [x for _, x in peaks]
        sizes = [abs(error) for error, _ in peaks]
        if max(sizes) < min(sizes) * mpf("1.02"):
            break
    worst = max(abs(error) for error, _ in errors)
    return coefficients, worst


def fit(function, weight, degree, low, high, rounding, exact=3):
    """Coefficients from x**0 up, each of the type that `rounding` gives."""
    done = []
    for lead in range(degree + 1):
        rest = lambda x, fixed=tuple(done): function(x) - sum(c * x**i for i, c in enumerate(fixed))
        powers = list(range(lead, degree + 1))
        coefficients, worst = exchange(rest, weight, powers, low, high)
        if lead == exact or lead == degree:
            done += [rounding(c) for c in coefficients]
            break
        done.append(rounding(coefficients[0]))
    return done, worst


def show(value, rounding):
    text = float(value).hex()
    return text + ("f" if rounding is to_float else "")


def write_polynomial(out, name, comment, result, rounding):
    coefficients, worst = result
    real = "float" if rounding is to_float else "double"
    muladd = "muladdf" if rounding is to_float else "muladd"
    bits = float(-log(worst, 2))
    out.append(f"/* {comment}; error 2^-{bits:.1f} */")
    out.append(f"static inline {real} {name}({real} x) {{")
    out.append(f"  {real} p = {show(coefficients[-1], rounding)};")
    for c in reversed(coefficients[:-1]):
        out.append(f"  p = {muladd}(p, x, {show(c, rounding)});")
    out.append("  return p;\n}\n")


def in_square(function):
    """A function of x as a function of x * x."""
    return lambda z: function(sqrt(z))


def series(terms, limit):
    """A power series, for weights and quotients that cancel at zero."""
    return lambda x: sum(terms(k) * x**k for k in range(limit))


def write_all(out):
    # Reductions round: the ends are a little further out.
    half = log(2) / 2 * mpf("1.002")
    e2 = lambda r: (exp(r) - 1 - r) / r**2
    for bits, degree, name, rounding in (
        (32, 4, "expTailF32", to_float),
        (64, 10, "expTailF64", to_double),
    ):
        write_polynomial(
            out,
            name,
            "(e^x - 1 - x) / x^2 for |x| <= ln 2 / 2",
            fit(e2, lambda r: r**2 / exp(r), degree, -half, half, rounding),
            rounding,
        )
    # For f32 functions that compute in double.
    write_polynomial(
        out,
        "expTailShort",
        "(e^x - 1 - x) / x^2, for results in f32",
        fit(e2, lambda r: r**2 / abs(expm1(r)), 6, -half, half, to_double),
        to_double,
    )

    low, high = sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1
    l3 = lambda f: (log1p(f) - f + f**2 / 2) / f**3
    write_polynomial(
        out,
        "logTailF32",
        "(log(1 + x) - x + x^2 / 2) / x^3 for 1 + x in [sqrt 1/2, sqrt 2]",
        fit(l3, lambda f: f**3 / log1p(f), 8, low, high, to_float),
        to_float,
    )
    # s = f / (2 + f): log(1 + f) = log((1 + s) / (1 - s)) = 2 s + s^3 P(s^2)
    top = (high / (2 + high)) ** 2 * mpf("1.002")
    ratio = lambda s: log((1 + s) / (1 - s))
    write_polynomial(
        out,
        "logTailF64",
        "(log((1 + s) / (1 - s)) - 2 s) / s^3, of x = s^2",
        fit(
            in_square(lambda s: (ratio(s) - 2 * s) / s**3),
            in_square(lambda s: s**3 / ratio(s)),
            6,
            mpf(0),
            top,
            to_double,
        ),
        to_double,
    )
    write_polynomial(
        out,
        "logTailLong",
        "(log((1 + s) / (1 - s)) - 2 s - 2/3 s^3) / s^5, of x = s^2",
        fit(
            in_square(lambda s: (ratio(s) - 2 * s - 2 * s**3 / 3) / s**5),
            in_square(lambda s: s**5 / ratio(s)),
            7,
            mpf(0),
            top,
            to_double,
        ),
        to_double,
    )
    write_polynomial(
        out,
        "logTailShort",
        "(log((1 + s) / (1 - s)) - 2 s) / s^3, of x = s^2, for results in f32",
        fit(
            in_square(lambda s: (ratio(s) - 2 * s) / s**3),
            in_square(lambda s: s**3 / ratio(s)),
            4,
            mpf(0),
            top,
            to_double,
        ),
        to_double,
    )

    quarter = (pi / 4 * mpf("1.01")) ** 2
    # The short reduction leaves a quotient of up to 0.63 quarters of a turn.
    wide = (pi / 2 * mpf("0.64")) ** 2
    for limit, degree, suffix, note in (
        (quarter, 5, "F64", ""),
        (wide, 3, "Short", ", for results in f32"),
    ):
        write_polynomial(
            out,
            f"sinTail{suffix}",
            f"(sin(s) - s) / s^3, of x = s^2{note}",
            fit(
                in_square(lambda s: (sin(s) - s) / s**3),
                in_square(lambda s: s**3 / sin(s)),
                degree,
                mpf(0),
                limit,
                to_double,
            ),
            to_double,
        )
        write_polynomial(
            out,
            f"cosTail{suffix}",
            f"(cos(s) - 1 + s^2 / 2) / s^4, of x = s^2{note}",
            fit(
                in_square(lambda s: (cos(s) - 1 + s**2 / 2) / s**4),
                in_square(lambda s: s**4 / cos(s)),
                degree,
                mpf(0),
                limit,
                to_double,
            ),
            to_double,
        )

    eighth = (sqrt(mpf(2)) - 1) ** 2 * mpf("1.002")
    for degree, suffix, note in ((10, "F64", ""), (5, "Short", ", for results in f32")):
        write_polynomial(
            out,
            f"atanTail{suffix}",
            f"(atan(s) - s) / s^3 for |s| <= tan(pi / 8), of x = s^2{note}",
            fit(
                in_square(lambda s: (atan(s) - s) / s**3),
                in_square(lambda s: s**3 / atan(s)),
                degree,
                mpf(0),
                eighth,
                to_double,
            ),
            to_double,
        )

    # erf(s) = 1 - exp(-s Q(s))
    write_polynomial(
        out,
        "erfPowerF32",
        "-log(1 - erf(x)) / x for x in [0, 3.4]",
        fit(
            lambda s: -log(erfc(s)) / s,
            lambda s: s * erfc(s) / erf(s),
            8,
            mpf(0),
            mpf("3.4"),
            to_float,
        ),
        to_float,
    )
    # a = |x| of erfc, as t = 1 - 6 / (a + 3): from -1 to where the result is 0.
    a = lambda t: 6 / (1 - t) - 3
    scaled = lambda t: exp(a(t) ** 2) * erfc(a(t)) * (a(t) + 3)
    write_polynomial(
        out,
        "erfcScaledF32",
        "e^a^2 (1 - erf(a)) (a + 3) of a = 6 / (1 - x) - 3 for a in [0, 10.25]",
        fit(
            scaled,
            lambda t: 1 / scaled(t),
            9,
            mpf(-1),
            1 - 6 / mpf("13.25"),
            to_float,
        ),
        to_float,
    )


def chop(value, unit):
    """The part of a number that is a multiple of unit."""
    return nint(value / unit) * unit


def write_reduction(out):
    """2^k * 2/pi modulo 4, as f32 arguments need it."""
    out.append(
        "/* Of 2^k * 2/pi modulo 4: the nearest multiple of 2^-27, and the rest. The\n"
        " * first times an integer of 24 bits is exact. */"
    )
    out.append("static const double twoOverPiMultiples[105][2] = {")
    for k in range(105):
        value = 2**k * 2 / pi
        value -= 4 * floor(value / 4)
        first = chop(value, mpf(2) ** -27)
        out.append(f"    {{{float(first).hex()}, {float(value - first).hex()}}},")
    out.append("};\n")
    with mp.workprec(1400):
        digits = int(floor(2 / pi * mpf(2) ** 1280))
    words = [(digits >> (1280 - 64 * (i + 1))) & (2**64 - 1) for i in range(20)]
    out.append("/* The first 1280 bits of 2/pi, highest word first. */")
    out.append("static const uint64_t twoOverPi[20] = {")
    for i in range(0, 20, 2):
        out.append(f"    0x{words[i]:016x}u, 0x{words[i + 1]:016x}u,")
    out.append("};\n")


def write_constants(out):
    def pieces(name, value, widths):
        """Constants that add up to value; all but the last end in zeros."""
        for i, width in enumerate(widths):
            if width:
                part = chop(value, mpf(2) ** (floor(log(abs(value), 2)) + 1 - width))
            else:
                part = value
            suffix = "" if len(widths) == 1 else str(i)
            out.append(f"#define {name}{suffix} {float(part).hex()}")
            value -= part

    # n of 11 (f64) or 9 (f32) bits times the first is exact.
    pieces("LN2_", log(2), (42, 0))
    pieces("LN2_F32_", log(2), (15, 0))
    # n of up to 21 bits times the first three is exact.
    pieces("HALF_PI_", pi / 2, (32, 32, 32, 0))
    pieces("HALF_PI_SUM_", pi / 2, (53, 0))
    for quarters in range(1, 5):
        pieces(f"QUARTER_PI_TIMES_{quarters}_", quarters * pi / 4, (53, 0))
    pieces("TWO_THIRDS_", mpf(2) / 3, (53, 0))
    pieces("LN2_SUM_", log(2), (53, 0))
    pieces("LOG2_E", 1 / log(2), (0,))
    pieces("TWO_OVER_PI", 2 / pi, (0,))
    out.append("")


def main():
    out = [
        "/* Written by coefficients.py. */",
        "#pragma once",
        "",
        '#include "compiler/kernel/library/arithmetic.h"',
        "",
        "/* clang-format off */",
        "",
    ]
    write_constants(out)
    write_all(out)
    write_reduction(out)
    out.append("/* clang-format on */")
    with open(sys.argv[1], "w") as file:
        file.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
