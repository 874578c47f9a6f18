"""Functions of the host that programs call by name."""

import ctypes
from ctypes import POINTER, c_char_p, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

from alula.bindings import dtypes, runtime


class Buffer(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("bytes", c_uint64),
        ("dims", POINTER(c_int64)),
        ("rank", c_uint32),
        ("dtype", c_uint32),
    ]


class Arguments(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", c_size_t),
        ("name", c_char_p),
        ("api_version", c_uint32),
        ("operand_count", c_uint32),
        ("result_count", c_uint32),
        ("operands", POINTER(Buffer)),
        ("results", POINTER(Buffer)),
        ("config", c_void_p),
        ("config_bytes", c_size_t),
        ("attributes", c_void_p),
        ("attribute_bytes", c_size_t),
        ("cancel", c_void_p),
    ]


FUNCTION = ctypes.CFUNCTYPE(c_void_p, c_void_p, POINTER(Arguments))
# Name -> what is called now; the runtime knows each name once and for all.
_functions = {}


def register(name, function):
    """Programs that call `name` call `function` from now on: NumPy arrays in,
    one array or a sequence of them out. Those that were loaded before don't
    know the name."""
    if name not in _functions:
        lib = runtime.functions()
        lib.alula_instance_register_custom_call.restype = c_void_p
        lib.alula_instance_register_custom_call.argtypes = [c_void_p, c_char_p, FUNCTION, c_void_p]
        lib.alula_error_create.restype = c_void_p
        lib.alula_error_create.argtypes = [ctypes.c_int, c_char_p]
        runtime.check(
            lib.alula_instance_register_custom_call(
                runtime.instance(), name.encode(), _trampoline, None
            )
        )
    _functions[name] = function


def _array(buffer):
    import numpy

    shape = tuple(buffer.dims[i] for i in range(buffer.rank))
    if not buffer.bytes:
        return numpy.empty(shape, dtypes.to_numpy(buffer.dtype))
    return dtypes.unpack(buffer.dtype, _bytes(buffer), shape)


def _bytes(buffer):
    import numpy

    memory = (ctypes.c_char * buffer.bytes).from_address(buffer.data)
    return numpy.frombuffer(memory, numpy.uint8)


def _call(name, arguments):
    operands = [_array(arguments.operands[i]) for i in range(arguments.operand_count)]
    for operand in operands:
        operand.flags.writeable = False
    results = [_array(arguments.results[i]) for i in range(arguments.result_count)]
    given = _functions[name](*operands)
    if len(results) == 1 and not isinstance(given, (tuple, list)):
        given = [given]
    if len(given) != len(results):
        raise TypeError(f"gives {len(given)} results, the program wants {len(results)}")
    for i, (result, value) in enumerate(zip(results, given)):
        if getattr(value, "shape", ()) != result.shape:
            raise TypeError(
                f"gives a result of shape {getattr(value, 'shape', ())}, "
                f"the program wants {result.shape}"
            )
        result[...] = value
        # What is packed was unpacked into a copy.
        buffer = arguments.results[i]
        if buffer.dtype in dtypes.PACKING and buffer.bytes:
            _bytes(buffer)[:] = dtypes.pack(buffer.dtype, result)


@FUNCTION
def _trampoline(_, pointer):
    arguments = pointer.contents
    name = arguments.name.decode()
    try:
        _call(name, arguments)
    except Exception as error:
        text = f"'{name}': {type(error).__name__}: {error}"
        clean = "".join(c if c.isprintable() else " " for c in text)
        return runtime.functions().alula_error_create(13, clean.encode())
    return None
