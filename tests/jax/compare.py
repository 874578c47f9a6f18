"""Compares two results of one program and says how far they are apart."""

import dataclasses

import ml_dtypes
import numpy as np

# Steps between neighbours that an elementwise program may be off.
MAX_ULP = 4
# Where a program adds up many terms, XLA's order is not ours: the tolerance
# is this many epsilons of the largest value of the result.
EPSILONS = {2: 2, 4: 16, 8: 16}
ACCUMULATING = {
    "stablehlo.cholesky",
    "stablehlo.convolution",
    "stablehlo.custom_call",
    "stablehlo.dot_general",
    "stablehlo.fft",
    "stablehlo.reduce",
    "stablehlo.reduce_window",
    "stablehlo.scatter",
    "stablehlo.select_and_scatter",
    "stablehlo.triangular_solve",
    "stablehlo.while",
}


@dataclasses.dataclass(frozen=True)
class Difference:
    """The elements of one result that are not within the tolerance."""

    text: str
    where: np.ndarray  # A mask.


def _parts(array: np.ndarray) -> np.ndarray:
    """A complex array as pairs of reals."""
    if array.dtype.kind != "c":
        return array
    return np.stack([array.real, array.imag], axis=-1)


def is_float(dtype: np.dtype) -> bool:
    if dtype.kind in "fc":
        return True
    try:
        ml_dtypes.finfo(dtype)
        return True
    except ValueError:
        return False


def epsilon(dtype: np.dtype) -> float:
    return float(ml_dtypes.finfo(_parts(np.empty(1, dtype)).dtype).eps)


def ulp_distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How many representable values lie between a and b, zero signs apart."""
    bits = 8 * a.dtype.itemsize

    def ordered(array):
        # Subtraction wraps for 64 bits, so the distance is taken unsigned.
        code = array.view(f"u{array.dtype.itemsize}").astype(np.uint64)
        sign = np.uint64(1) << np.uint64(bits - 1)
        magnitude = code & (sign - np.uint64(1))
        return np.where(code & sign, sign - magnitude, sign + magnitude)

    first, second = ordered(a), ordered(b)
    return np.where(first > second, first - second, second - first)


def scale_of(array: np.ndarray) -> float:
    finite = np.abs(array.astype(np.float64))
    finite = finite[np.isfinite(finite)]
    return float(finite.max(initial=0))


def _float_mismatch(ours, theirs, accumulates: bool) -> np.ndarray:
    wide, other = ours.astype(np.float64), theirs.astype(np.float64)
    same = (wide == other) | (np.isnan(wide) & np.isnan(other))
    close = ulp_distance(ours, theirs) <= MAX_ULP
    if accumulates and ours.dtype.itemsize in EPSILONS:
        epsilons = EPSILONS[ours.dtype.itemsize]
        limit = epsilons * epsilon(ours.dtype) * scale_of(theirs)
        with np.errstate(invalid="ignore", over="ignore"):
            close |= np.abs(wide - other) <= limit
    return ~same & ~(close & np.isfinite(wide) & np.isfinite(other))


def compare(ours, theirs, accumulates: bool) -> Difference | None:
    """Nothing if they agree within the type's tolerance."""
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        text = f"{ours.dtype}{ours.shape} against {theirs.dtype}{theirs.shape}"
        return Difference(text, np.ones(ours.shape, bool))
    if is_float(ours.dtype):
        where = _float_mismatch(_parts(ours), _parts(theirs), accumulates)
        if ours.dtype.kind == "c":
            where = where.any(axis=-1)
    else:
        where = ours != theirs
    if not where.any():
        return None
    index = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(where)))
    text = (
        f"{int(where.sum())} of {where.size} elements differ, at {list(index)}"
        f" {np.atleast_1d(ours)[index]} is not {np.atleast_1d(theirs)[index]}"
    )
    return Difference(text, where)


def within(ours, theirs, epsilons: float | None) -> bool:
    """Whether they are at most so many epsilons of 1 apart, if there is a limit."""
    if epsilons is None:
        return True
    gap = np.abs(_parts(ours).astype(np.float64) - _parts(theirs).astype(np.float64))
    return bool(np.nanmax(gap, initial=0) <= epsilons * epsilon(ours.dtype))


def flushed(ours, theirs, where: np.ndarray) -> bool:
    """Whether all that differs is a denormal of ours where theirs is zero."""
    if not is_float(ours.dtype):
        return False
    a, b = _parts(ours).astype(np.float64), _parts(theirs).astype(np.float64)
    tiny = float(ml_dtypes.finfo(_parts(ours).dtype).smallest_normal)
    bad = (a != b) & ~(np.isnan(a) & np.isnan(b))
    if ours.dtype.kind == "c":
        bad &= where[..., None]
    else:
        bad &= where
    return bool(((b == 0) & (np.abs(a) < tiny))[bad].all())
