"""Values of programs in f64, for which there is no wider type to run them in.

Those of elementwise programs are exact, from mpmath with 60 digits; factors of
matrices are computed in numpy's long double where that is wider.
"""

import mpmath
import numpy as np

_mp = mpmath.MPContext()
_mp.dps = 60

# By the group of a harness, which is the name of JAX's primitive.
FUNCTIONS = {
    "acos": _mp.acos,
    "acosh": _mp.acosh,
    "asin": _mp.asin,
    "asinh": _mp.asinh,
    "atan": _mp.atan,
    "atan2": _mp.atan2,
    "atanh": _mp.atanh,
    "cbrt": lambda x: _mp.sign(x) * _mp.cbrt(abs(x)),
    "cos": _mp.cos,
    "cosh": _mp.cosh,
    "digamma": _mp.digamma,
    "div": lambda x, y: x / y,
    "erf": _mp.erf,
    "erf_inv": _mp.erfinv,
    "erfc": _mp.erfc,
    "exp": _mp.exp,
    "expm1": _mp.expm1,
    "lgamma": lambda x: _mp.re(_mp.loggamma(x)),
    "log": _mp.log,
    "log1p": lambda x: _mp.log(1 + x),
    "logistic": lambda x: 1 / (1 + _mp.exp(-x)),
    "mul": lambda x, y: x * y,
    "pow": _mp.power,
    "rsqrt": lambda x: 1 / _mp.sqrt(x),
    "sin": _mp.sin,
    "sinh": _mp.sinh,
    "sqrt": _mp.sqrt,
    "tan": _mp.tan,
    "tanh": _mp.tanh,
}


def _number(value):
    return _mp.mpc(value) if isinstance(value, complex) else _mp.mpf(value)


def _function(group: str, name: str):
    if group == "integer_pow":
        exponent = int(name.rsplit("_y_")[1])
        return lambda x: x**exponent
    return FUNCTIONS.get(group)


def _cholesky(batch: np.ndarray) -> np.ndarray | None:
    """The lower factors; the other triangles are the operand's."""
    if np.finfo(np.longdouble).eps > 2e-19 or batch.dtype.char not in "dD":
        return None
    result = batch.copy()
    for index in np.ndindex(batch.shape[:-2]):
        a = batch[index].astype(np.clongdouble)
        n = len(a)
        lower = np.zeros_like(a)
        for j in range(n):
            row = lower[j, :j]
            lower[j, j] = np.sqrt(a[j, j].real - (np.abs(row) ** 2).sum())
            below = a[j + 1 :, j] - lower[j + 1 :, :j] @ row.conj()
            lower[j + 1 :, j] = below / lower[j, j]
        if batch.dtype.char == "d":
            lower = lower.real
        result[index][np.tril_indices(n)] = lower[np.tril_indices(n)]
    return result


def truth(group: str, name: str, inputs: list[np.ndarray], where: np.ndarray) -> np.ndarray | None:
    """The results at the places of the mask, zero elsewhere; nothing if unknown.

    One result more precise than f64 is not needed: the error of rounding is
    half a step, and both that are judged here are further away.
    """
    if group == "cholesky":
        return _cholesky(inputs[0])
    function = _function(group, name)
    if not function or any(array.shape != where.shape for array in inputs):
        return None
    wide = np.complex128 if any(array.dtype.kind == "c" for array in inputs) else np.float64
    result = np.zeros(where.shape, wide)
    for index in zip(*np.nonzero(where), strict=True):
        arguments = [_number(wide(array[index]).item()) for array in inputs]
        try:
            exact = function(*arguments)
        except (ArithmeticError, ValueError, mpmath.libmp.NoConvergence):
            return None
        # A real function is not defined where mpmath goes on to complex numbers.
        undefined = wide is np.float64 and isinstance(exact, _mp.mpc) and exact.imag != 0
        result[index] = (
            np.nan if undefined else wide(exact if wide is np.complex128 else exact.real)
        )
    return result
