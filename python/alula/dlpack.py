"""DLPack out of arrays of every type that DLPack has, also of those that NumPy
can't export: bfloat16, float8, and what is read-only. On the host alone."""

import ctypes

import numpy as np

CPU = 1
READ_ONLY, IS_COPIED = 1, 2
_INT, _UINT, _FLOAT, _BFLOAT, _COMPLEX, _BOOL = 0, 1, 2, 4, 5, 6
_KINDS = {"i": _INT, "u": _UINT, "f": _FLOAT, "c": _COMPLEX, "b": _BOOL}
# Since version 1.1.
_SMALL = {
    "float8_e3m4": 7,
    "float8_e4m3": 8,
    "float8_e4m3b11fnuz": 9,
    "float8_e4m3fn": 10,
    "float8_e4m3fnuz": 11,
    "float8_e5m2": 12,
    "float8_e5m2fnuz": 13,
    "float8_e8m0fnu": 14,
}


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    _fields_ = [
        ("tensor", _Tensor),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


# Functions of our own: prototypes of `ctypes.pythonapi` are everybody's.
_python = ctypes.PyDLL(None)
_new = _python.PyCapsule_New
_new.restype = ctypes.py_object
_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_is_valid = _python.PyCapsule_IsValid
_is_valid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_get = _python.PyCapsule_GetPointer
_get.restype = ctypes.c_void_p
_get.argtypes = [ctypes.c_void_p, ctypes.c_char_p]

# What capsules that somebody has refer to, by the address of their struct.
_alive = {}
_names = {_Managed: b"dltensor", _Versioned: b"dltensor_versioned"}


# Called from any thread, with the interpreter's lock or without.
@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _delete(address, alive=_alive):
    alive.pop(address, None)


# A capsule that nobody has taken still has its first name.
@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _destroy(capsule, alive=_alive, names=tuple(_names.values()), is_valid=_is_valid, get=_get):
    for name in names:
        if is_valid(capsule, name):
            alive.pop(get(capsule, name), None)


# Memory may be given back when the interpreter takes modules apart.
for _function in (_delete, _destroy):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_function))


def _describe(dtype):
    """Code and bits; BufferError if DLPack has no such type."""
    name = dtype.name
    if name == "bfloat16":
        return _BFLOAT, 16
    if name in _SMALL:
        return _SMALL[name], 8
    if dtype.kind in _KINDS and dtype.isbuiltin and dtype.isnative:
        return _KINDS[dtype.kind], dtype.itemsize * 8
    raise BufferError(f"DLPack has no type for {name}")


def export(array, *, stream=None, max_version=None, dl_device=None, copy=None, is_read_only=None):
    """A capsule of a NumPy array, as `__dlpack__` gives it. `is_read_only` is
    what the array says, if it is not given. Without versions nobody can be told
    that memory is read-only: then it is copied."""
    code, bits = _describe(array.dtype)
    if stream is not None:
        raise BufferError(f"arrays of the host know no streams: stream is {stream!r}")
    if dl_device is not None and (int(dl_device[0]), int(dl_device[1])) != (CPU, 0):
        raise BufferError(f"the array is on the host: it can't be exported to device {dl_device}")
    is_versioned = max_version is not None and max_version[0] >= 1
    if array.dtype.name in _SMALL and not is_versioned:
        raise BufferError(f"{array.dtype.name} needs a consumer of DLPack 1.0 or newer")
    if is_read_only is None:
        is_read_only = not array.flags.writeable
    is_copied = bool(copy)
    if is_read_only and not is_versioned:
        if copy is False:
            raise BufferError(
                "the array is read-only, which consumers before DLPack 1.0 can't know: "
                "copy=False is not possible"
            )
        is_copied = True
    if any(stride % array.itemsize for stride in array.strides):
        if copy is False:
            raise BufferError("strides are no multiples of an element: copy=False is not possible")
        is_copied = True
    if is_copied:
        array, is_read_only = np.array(array, order="C", copy=True, subok=False), False

    kind = _Versioned if is_versioned else _Managed
    made = kind()
    made.deleter = ctypes.cast(_delete, ctypes.c_void_p)
    if is_versioned:
        made.major, made.minor = 1, int(array.dtype.name in _SMALL)
        made.flags = READ_ONLY * bool(is_read_only) | IS_COPIED * is_copied
    tensor = made.tensor
    shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    strides = (ctypes.c_int64 * max(array.ndim, 1))(*(s // array.itemsize for s in array.strides))
    tensor.data = array.ctypes.data
    tensor.device_type, tensor.ndim = CPU, array.ndim
    tensor.code, tensor.bits, tensor.lanes = code, bits, 1
    tensor.shape, tensor.strides = shape, strides
    address = ctypes.addressof(made)
    _alive[address] = (made, shape, strides, array)
    try:
        return _new(address, _names[kind], ctypes.cast(_destroy, ctypes.c_void_p))
    except BaseException:
        del _alive[address]
        raise


def count_alive():
    """How many exported arrays somebody still has."""
    return len(_alive)
