"""The kernel library as a shared object of this machine, for tests."""

import ctypes
import os
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[3]
PATH = ROOT / os.environ.get("ALULA_BUILD", "build") / "lib" / "libalula-library-native.so"
TYPES = [np.dtype(name) for name in ("float32", "float64", "complex64", "complex128")]

_library = ctypes.CDLL(os.environ.get("ALULA_LIBRARY_NATIVE", str(PATH)))


def call(name, dtype, *arguments):
    """Calls alula_<name>_<type of dtype>, or alula_<name> without a type;
    arrays pass as pointers, None as null, int as int64, np.int32 as int32,
    and NumPy's reals as what they are."""
    dtype = None if dtype is None else np.dtype(dtype)
    suffix = "" if dtype is None else f"_{dtype.kind}{8 * dtype.itemsize}"
    # Those that can be cancelled take a flag more; the others don't look at it.
    getattr(_library, f"alula_{name}{suffix}")(*_convert(arguments), ctypes.c_void_p())


def call_integer(name, *arguments):
    """The same without a type; what it returns."""
    function = getattr(_library, f"alula_{name}")
    function.restype = ctypes.c_int64
    return function(*_convert(arguments))


def size(name, *arguments):
    """What alula_<name> of the headers says."""
    function = getattr(_library, f"alula_{name}_exported")
    function.restype = ctypes.c_int64
    return function(*_convert(arguments))


def _convert(arguments):
    values = []
    for argument in arguments:
        if argument is None:
            values.append(ctypes.c_void_p())
        elif isinstance(argument, np.ndarray):
            assert argument.flags.c_contiguous
            values.append(ctypes.c_void_p(argument.ctypes.data))
        elif isinstance(argument, np.int32):
            values.append(ctypes.c_int32(int(argument)))
        elif isinstance(argument, np.floating):
            real = ctypes.c_float if argument.dtype == np.float32 else ctypes.c_double
            values.append(real(float(argument)))
        else:
            values.append(ctypes.c_int64(argument))
    return values


class Scratch:
    """Scratch of exactly so many bytes; `check` finds writes past its ends."""

    GUARD = 64

    def __init__(self, count):
        self.whole = np.full(count + 2 * self.GUARD + 64, 0xA5, np.uint8)
        start = -(self.whole.ctypes.data + self.GUARD) % 64 + self.GUARD
        self.bytes = self.whole[start : start + count]
        self.before = self.whole[start - self.GUARD : start]
        self.after = self.whole[start + count : start + count + self.GUARD]

    def check(self):
        assert (self.before == 0xA5).all() and (self.after == 0xA5).all()


def call_with_scratch(name, dtype, count, *arguments):
    scratch = Scratch(count)
    call(name, dtype, *arguments, scratch.bytes)
    scratch.check()


def real_type(dtype):
    return np.zeros(0, dtype).real.dtype


def complex_type(dtype):
    return np.result_type(dtype, np.complex64)


def epsilon(dtype):
    return float(np.finfo(dtype).eps)


def random_matrix(shape, dtype, seed=0):
    random = np.random.RandomState(seed)
    matrix = random.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        matrix = matrix + 1j * random.standard_normal(shape)
    return np.ascontiguousarray(matrix.astype(dtype))


def adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


def wide(a):
    """In double precision, so that the check does not round itself."""
    return a.astype(np.result_type(a.dtype, np.float64))
