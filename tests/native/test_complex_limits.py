"""Every function of one complex number, as native code and by the reference, at
the limits of its type: mpmath judges both parts of finite arguments; infinities
and NaN must give what the reference gives, and for exp and square what mpmath
and XLA give."""

import subprocess
import sys

import jax_functions
import mpmath
import numpy as np
import pytest

sys.path.append(str(jax_functions.HERE.parents[1] / "compiler/kernel/library"))
from complex_judge import cancelling, limits, part_error

pytestmark = jax_functions.needs_build
tools = jax_functions.tools

STABLEHLO = {
    "exponential": mpmath.exp,
    "exponential_minus_one": lambda z: mpmath.exp(z) - 1,
    "log": mpmath.log,
    "log_plus_one": lambda z: mpmath.log(1 + z),
    "sine": mpmath.sin,
    "cosine": mpmath.cos,
    "tan": mpmath.tan,
    "tanh": mpmath.tanh,
    "sqrt": mpmath.sqrt,
    "rsqrt": lambda z: 1 / mpmath.sqrt(z),
    "cbrt": lambda z: mpmath.root(z, 3) if z else z,
    "sign": lambda z: z / abs(z) if z else z,
}
CHLO = {
    name: getattr(mpmath, name)
    for name in ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh"]
}
CHLO["square"] = lambda z: z * z
NAMES = [*STABLEHLO, *CHLO]
DTYPES = {"f32": (np.float32, np.complex64), "f64": (np.float64, np.complex128)}

# Where mpmath would need a number of more digits than there is memory.
GROWS = dict.fromkeys(["exponential", "exponential_minus_one", "tanh", "cosh", "sinh"], "real")
GROWS |= dict.fromkeys(["sine", "cosine", "tan"], "imag")
# Units of each part. Formulas are evaluated in the type itself.
BOUNDS = dict.fromkeys(["tan", "tanh"], 4) | dict.fromkeys(CHLO, 4)


def program(kind, count):
    text = ""
    for name in NAMES:
        type_ = f"tensor<{count}xcomplex<{kind}>>"
        op = (
            f"chlo.{name} %x : {type_} -> {type_}"
            if name in CHLO
            else f"stablehlo.{name} %x : {type_}"
        )
        text += f"func.func @{name}(%x: {type_}) -> {type_} {{\n  %0 = {op}\n"
        text += f"  return %0 : {type_}\n}}\n"
    return text


def edges():
    parts = [0.0, -0.0, 1.0, -2.5, 30.0, -1e20, np.inf, -np.inf, np.nan]
    return [complex(re, im) for re in parts for im in parts]


@pytest.fixture(scope="module", params=DTYPES)
def results(request, tools, tmp_path_factory):
    """Arguments, and what both give for each function."""
    part, dtype = DTYPES[request.param]
    arguments = np.array(limits(part) + cancelling(part) + edges(), dtype)
    text = program(request.param, len(arguments))
    compiler, runtime = tools
    executable = runtime.load(compiler.compile(text.encode(), ["cpu:host"]))
    folder = tmp_path_factory.mktemp("complex")
    (folder / "program.mlir").write_text(text)
    np.save(folder / "x.npy", arguments)
    found = {}
    for name in NAMES:
        buffer = runtime.new_buffer(arguments, jax_functions.kind_of(arguments))
        (result,) = executable.call(executable.find(name), [buffer])
        native = result.array()
        where = folder / f"{name}.npy"
        subprocess.run(
            [jax_functions.BUILD / "bin/alula-interpret", folder / "program.mlir"]
            + [f"--function={name}", f"--input=@{folder}/x.npy", f"--output={where}"],
            check=True,
        )
        found[name] = native, np.load(where)
    return part, arguments, found


def kinds(z):
    return [np.isnan(p) * 2 or np.isinf(p) for p in (z.real, z.imag)]


@pytest.mark.parametrize("name", NAMES)
def test_finite(results, name):
    part, arguments, found = results
    exact_of = (STABLEHLO | CHLO)[name]
    worst = [(0, None)] * 2
    with mpmath.workprec(2400 if name in ("log_plus_one", "exponential_minus_one") else 1200):
        for z, *got in zip(arguments, *found[name], strict=True):
            if not np.isfinite(z) or name in GROWS and abs(getattr(z, GROWS[name])) > 3000:
                continue
            # Poles, and branch cuts, where the sign of zero says which side.
            if np.isinf(got[1].real) or np.isinf(got[1].imag) or z.real == 0 or z.imag == 0:
                continue
            exact = mpmath.mpc(exact_of(mpmath.mpc(complex(z))))
            for k in range(2):
                error = max(
                    part_error(got[k].real, exact.real, part),
                    part_error(got[k].imag, exact.imag, part),
                )
                worst[k] = max(worst[k], (error, (z, got[k], exact)), key=lambda pair: pair[0])
    bound = BOUNDS.get(name, 3)
    assert worst[0][0] <= bound and worst[1][0] <= bound, worst


@pytest.mark.parametrize("name", NAMES)
def test_not_finite(results, name):
    _, arguments, found = results
    differing = [
        (z, native, reference)
        for z, native, reference in zip(arguments, *found[name], strict=True)
        if kinds(native) != kinds(reference)
    ]
    assert not differing, differing[:6]


@pytest.mark.parametrize("which", [0, 1], ids=["native", "reference"])
def test_exp_and_square_at_infinity(results, which):
    _, arguments, found = results
    exp, square = (
        dict(zip(map(str, arguments), found[n][which], strict=True))
        for n in ("exponential", "square")
    )
    inf = np.inf
    dtype = arguments.dtype.type
    for z in [complex(a, b) for a in (inf, -inf) for b in (inf, -inf, np.nan)]:
        assert kinds(exp[str(dtype(z))]) == [2, 2], z
    assert exp[str(dtype(complex(-inf, 1)))] == 0
    for a, b in [(inf, inf), (-inf, inf), (inf, -inf)]:
        result = square[str(dtype(complex(a, b)))]
        assert np.isnan(result.real) and result.imag == a * b
