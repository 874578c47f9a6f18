"""Host values as arrays of just the type that a function wants. Knows no JAX;
arrays of JAX, of NumPy, and whatever speaks DLPack are welcome."""

import sys
import warnings

import numpy as np

from alula.bindings import dtypes

_NARROW = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}
_SCALARS = {bool: "b", int: "biu", float: "biufV", complex: "c"}


class Wanted:
    """What one leaf has to be. `shape` has strings for sizes that are free."""

    def __init__(self, path, dtype, shape, key=None, shown=None):
        self.path, self.dtype, self.shape, self.key = path, np.dtype(dtype), tuple(shape), key
        self.shown = shown or dtypes.describe(self.dtype.name, self.shape)
        self.is_static = all(isinstance(size, int) for size in self.shape)

    def fits(self, shape):
        if self.is_static:
            return shape == self.shape
        return len(shape) == len(self.shape) and all(
            not isinstance(size, int) or size == given for size, given in zip(self.shape, shape)
        )


class Problem(Exception):
    """A leaf that does not fit; the text says what was expected and given."""


def to_array(leaf, wanted, x64=False):
    """A contiguous array, without a copy if `leaf` is one already."""
    if type(leaf) in _SCALARS:
        return _from_number(leaf, wanted)
    if isinstance(leaf, np.ndarray):
        array = leaf
    else:
        array = _from_foreign(leaf, wanted)
    if array.dtype != wanted.dtype:
        array = _convert(array, wanted, x64)
    if array.shape != wanted.shape and not wanted.fits(array.shape):
        raise Problem(_text(wanted, array))
    if not array.flags.c_contiguous or not array.flags.aligned:
        array = np.array(array, order="C", copy=True)
    return array


def _text(wanted, array, given=None):
    given = given or dtypes.describe(array.dtype.name, array.shape)
    return f"expected {wanted.shown}, got {given}"


def _from_number(number, wanted):
    kind = wanted.dtype.kind if wanted.dtype.kind != "V" else "f"
    fits = {
        bool: kind == "b",
        int: kind in "iufc",
        float: kind in "fc",
        complex: kind == "c",
    }[type(number)]
    if wanted.shape != () or not fits or wanted.key:
        raise Problem(_text(wanted, None, f"the Python number {number!r}"))
    try:
        return np.asarray(number, dtype=wanted.dtype)
    except OverflowError:
        raise Problem(_text(wanted, None, f"{number!r}, which is too large")) from None


def _from_foreign(leaf, wanted):
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(leaf, jax.core.Tracer):
        raise Problem(f"expected {wanted.shown}, got a JAX tracer: call it outside of jit")
    if jax is not None and isinstance(leaf, jax.Array):
        if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            given = str(jax.random.key_impl(leaf))
            if given != wanted.key:
                raise Problem(f"expected {wanted.shown}, got a key of {given}")
            leaf = jax.random.key_data(leaf)
        return np.asarray(leaf)
    if hasattr(leaf, "__array__") or isinstance(leaf, np.generic):
        return np.asarray(leaf)
    if hasattr(leaf, "__dlpack__"):
        return np.from_dlpack(leaf)
    raise Problem(f"expected {wanted.shown}, got {leaf!r} of type {type(leaf).__name__}")


def _convert(array, wanted, x64):
    """As JAX reads arrays: 64 bits are 32, unless x64 is on."""
    if not x64 and _NARROW.get(array.dtype.name) == wanted.dtype.name:
        return array.astype(wanted.dtype)
    same_width = array.dtype.itemsize == wanted.dtype.itemsize
    if same_width and {array.dtype.kind, wanted.dtype.kind} == {"i", "u"}:
        warnings.warn(
            f"argument '{wanted.path}': {array.dtype.name} is taken as {wanted.dtype.name}, "
            "bit by bit",
            stacklevel=6,
        )
        return array.view(wanted.dtype)
    raise Problem(_text(wanted, array))


def convert_all(function, pairs, x64):
    """Arrays of all (leaf, wanted) pairs; one TypeError for what is wrong."""
    arrays, problems = [], []
    for leaf, wanted in pairs:
        try:
            arrays.append(to_array(leaf, wanted, x64))
        except Problem as problem:
            problems.append(f"{function}() argument '{wanted.path}': {problem}")
    if problems:
        more = f"\nand {len(problems) - 5} more" if len(problems) > 5 else ""
        raise TypeError("\n".join(problems[:5]) + more)
    return arrays
