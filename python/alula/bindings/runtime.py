"""alula/runtime.h: artifacts that are loaded, their functions and states."""

import ctypes
import functools
import threading
import weakref
from ctypes import POINTER, byref, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32
from ctypes import c_uint64, c_void_p

from alula import errors
from alula.bindings import dtypes, interruptible, library

MAX_RANK = 64


class ValueInfo(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", c_size_t),
        ("name", c_char_p),
        ("dtype", c_uint32),
        ("rank", c_uint32),
        ("dims", POINTER(c_int64)),
        ("alias", c_int32),
        ("is_mutable", c_int),
    ]


class DimInfo(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", c_size_t),
        ("size", c_int64),
        ("minimum", c_int64),
        ("maximum", c_int64),
        ("symbol", c_char_p),
    ]


class InstanceOptions(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", c_size_t),
        ("device", c_char_p),
        ("thread_count", c_uint32),
        ("allocator", c_void_p),
        ("thread_pool", c_void_p),
        ("share_threads", c_void_p),
        ("kept_bytes", c_uint64),
    ]


class LoadOptions(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", c_size_t),
        ("flags", c_uint32),
        ("variant", c_char_p),
        ("external_directory", c_char_p),
        ("find_external", c_void_p),
        ("find_external_user", c_void_p),
        ("max_global_bytes", c_uint64),
    ]


class ExternalConstant(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", c_size_t),
        ("file", c_char_p),
        ("name", c_char_p),
        ("dtype", c_uint32),
        ("rank", c_uint32),
        ("dims", POINTER(c_int64)),
        ("bytes", c_uint64),
    ]


FIND_EXTERNAL = ctypes.CFUNCTYPE(c_void_p, c_void_p, POINTER(ExternalConstant), POINTER(c_void_p))


@functools.cache
def functions():
    """The library with its signatures."""
    lib = library.runtime()
    error = c_void_p
    signatures = {
        "alula_error_get_code": (c_int, [error]),
        "alula_error_get_message": (c_char_p, [error]),
        "alula_error_destroy": (None, [error]),
        "alula_instance_create": (error, [c_void_p, POINTER(c_void_p)]),
        "alula_executable_load_file": (
            error,
            [c_void_p, c_char_p, POINTER(LoadOptions), POINTER(c_void_p)],
        ),
        "alula_executable_load_memory": (
            error,
            [c_void_p, c_void_p, c_size_t, POINTER(LoadOptions), POINTER(c_void_p)],
        ),
        "alula_executable_destroy": (None, [c_void_p]),
        "alula_executable_get_hash": (c_uint64, [c_void_p]),
        "alula_executable_get_variant": (c_char_p, [c_void_p]),
        "alula_executable_get_fact": (
            c_int,
            [c_void_p, c_uint32, POINTER(c_char_p), POINTER(c_char_p)],
        ),
        "alula_executable_get_function_count": (c_uint32, [c_void_p]),
        "alula_executable_get_function_name": (c_char_p, [c_void_p, c_uint32]),
        "alula_executable_get_argument": (
            c_int,
            [c_void_p, c_uint32, c_uint32, POINTER(ValueInfo)],
        ),
        "alula_executable_get_result": (
            c_int,
            [c_void_p, c_uint32, c_uint32, POINTER(ValueInfo)],
        ),
        "alula_executable_get_argument_dim": (
            c_int,
            [c_void_p, c_uint32, c_uint32, c_uint32, POINTER(DimInfo)],
        ),
        "alula_executable_get_global": (c_int, [c_void_p, c_uint32, POINTER(ValueInfo)]),
        "alula_state_create": (error, [c_void_p, POINTER(c_void_p)]),
        "alula_state_destroy": (None, [c_void_p]),
        "alula_global_get": (error, [c_void_p, c_void_p, c_uint32, c_void_p, c_size_t]),
        "alula_global_set": (error, [c_void_p, c_void_p, c_uint32, c_void_p, c_size_t]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


STATUS_NAMES = {1: "cancelled", 11: "out of range", 12: "unimplemented", 13: "internal"}


def check(error):
    """Raises what a C function gave, if anything."""
    if not error:
        return
    lib = functions()
    code = lib.alula_error_get_code(error)
    message = lib.alula_error_get_message(error).decode()
    lib.alula_error_destroy(error)
    raise errors.from_status(code, STATUS_NAMES.get(code, "unknown"), message)


@functools.cache
def _new_instance():
    instance = c_void_p()
    options = InstanceOptions(struct_bytes=ctypes.sizeof(InstanceOptions))
    # Of released results, as the plugin of JAX does.
    options.kept_bytes = 58 << 20
    check(functions().alula_instance_create(byref(options), byref(instance)))
    return instance


_lock = threading.Lock()


def instance():
    """The one device of this process."""
    with _lock:
        return _new_instance()


class Value:
    """An argument, a result or a global: name, type, shape (None: dynamic)."""

    __slots__ = ("name", "dtype", "shape", "is_mutable")

    def __init__(self, info):
        self.name = (info.name or b"").decode()
        self.dtype = info.dtype
        self.shape = tuple(None if info.dims[i] < 0 else info.dims[i] for i in range(info.rank))
        self.is_mutable = bool(info.is_mutable)

    @property
    def dtype_name(self):
        return dtypes.TABLE[self.dtype][0]

    @property
    def nbytes(self):
        count = 1
        for size in self.shape:
            count *= size
        return dtypes.packed_bytes(self.dtype, count)

    def __repr__(self):
        sizes = ["?" if size is None else size for size in self.shape]
        return f"{self.name}: {dtypes.describe(self.dtype_name, sizes)}"


class Executable:
    """A loaded artifact. `external` are the bytes of constants outside of it, as
    arrays by name, which live as long as it does."""

    def __init__(self, source, external_directory=None, max_global_bytes=0, external=None):
        lib = functions()
        handle = c_void_p()
        options = LoadOptions(struct_bytes=ctypes.sizeof(LoadOptions))
        options.max_global_bytes = max_global_bytes
        if external_directory is not None:
            options.external_directory = str(external_directory).encode()

        def find(_, constant, data):
            array = external.get(constant.contents.name.decode())
            if array is not None and array.nbytes == constant.contents.bytes:
                data[0] = array.ctypes.data

        self._external = external
        if external:
            found = FIND_EXTERNAL(find)
            options.find_external = ctypes.cast(found, c_void_p)
        if isinstance(source, (bytes, bytearray, memoryview)):
            data = bytes(source)
            check(
                lib.alula_executable_load_memory(
                    instance(), data, len(data), byref(options), byref(handle)
                )
            )
        else:
            check(
                lib.alula_executable_load_file(
                    instance(), str(source).encode(), byref(options), byref(handle)
                )
            )
        self.handle = handle
        weakref.finalize(self, lib.alula_executable_destroy, handle)
        self.functions = {}
        for number in range(lib.alula_executable_get_function_count(handle)):
            name = lib.alula_executable_get_function_name(handle, number).decode()
            self.functions[name] = Function(self, number, name)
        self.globals = self._list(lib.alula_executable_get_global)
        self.global_numbers = {value.name: i for i, value in enumerate(self.globals)}
        self.facts = {}
        key, value = c_char_p(), c_char_p()
        while lib.alula_executable_get_fact(handle, len(self.facts), byref(key), byref(value)):
            self.facts[key.value.decode()] = value.value.decode()

    def _list(self, get, *where):
        found, info = [], ValueInfo(struct_bytes=ctypes.sizeof(ValueInfo))
        while get(self.handle, *where, len(found), byref(info)):
            found.append(Value(info))
        return found

    @property
    def hash(self):
        return functions().alula_executable_get_hash(self.handle)

    @property
    def variant(self):
        return functions().alula_executable_get_variant(self.handle).decode()


class State:
    """Values of an executable's globals."""

    def __init__(self, executable):
        lib = functions()
        self.executable = executable
        handle = c_void_p()
        check(lib.alula_state_create(executable.handle, byref(handle)))
        self.handle, self.address = handle, handle.value
        # The executable goes after its states.
        weakref.finalize(self, _destroy_state, handle, executable)

    def get(self, number):
        """A copy of a global as a NumPy array."""
        import numpy

        value = self.executable.globals[number]
        raw = numpy.empty(value.nbytes, numpy.uint8)
        check(
            functions().alula_global_get(
                self.executable.handle, self.handle, number, raw.ctypes.data, raw.nbytes
            )
        )
        return dtypes.unpack(value.dtype, raw, value.shape)

    def set(self, number, array):
        """`array` has the global's type and shape and is contiguous."""
        array = dtypes.pack(self.executable.globals[number].dtype, array)
        check(
            functions().alula_global_set(
                self.executable.handle, self.handle, number, array.ctypes.data, array.nbytes
            )
        )

    def is_defined(self, number):
        try:
            self.get(number)
        except errors.FailedPrecondition:
            return False
        return True


def _destroy_state(handle, executable):
    functions().alula_state_destroy(handle)


# Results of these types are no arrays as they are in memory.
_PARTS = {*dtypes.PACKING, dtypes.TOKEN}


def _describe(value):
    """What the extension is told of an argument or a result."""
    sizes = tuple(size if isinstance(size, int) else -1 for size in value.shape)
    if value.dtype in _PARTS:
        return value.dtype, None, 1, sizes
    kind = dtypes.to_numpy(value.dtype)
    return value.dtype, kind, kind.alignment, sizes


def _show(array):
    """As results are given to users."""
    from alula import arrays

    return array.view(arrays.Array)


@functools.cache
def calls():
    """What the extension knows of this process."""
    import numpy

    from alula import arrays

    try:
        from numpy._core import _multiarray_umath as table
    except ImportError:  # NumPy 1
        from numpy.core import _multiarray_umath as table
    made = library.calls().Library(
        library.runtime()._handle, arrays.Array, numpy.ndarray, check, table._ARRAY_API
    )
    interruptible.watch_everywhere(made)
    return made


class Function:
    """A function of an executable; takes and gives NumPy arrays of just the
    types that it asks for."""

    def __init__(self, executable, number, name):
        lib = functions()
        self._handle = executable.handle
        self.number, self.name = number, name
        self.arguments = executable._list(lib.alula_executable_get_argument, number)
        self.results = executable._list(lib.alula_executable_get_result, number)
        for i, argument in enumerate(self.arguments):
            for j, size in enumerate(argument.shape):
                if size is None:
                    self._read_symbol(argument, i, j)
        # A call ends before anybody could want to interrupt it.
        self.is_brief = False
        self.is_whole = not any(value.dtype in _PARTS for value in self.results)

    def _read_symbol(self, argument, number, dim):
        info = DimInfo(struct_bytes=ctypes.sizeof(DimInfo))
        if functions().alula_executable_get_argument_dim(
            self._handle, self.number, number, dim, byref(info)
        ):
            argument.shape = tuple(
                (info.symbol or b"?").decode() or "?" if i == dim else size
                for i, size in enumerate(argument.shape)
            )

    @functools.cached_property
    def entry(self):
        """The extension's: `entry.call(state.address, arrays)` is None if the arrays are not just
        what the function wants."""
        return library.calls().Function(
            calls(),
            self._handle.value,
            instance().value,
            self.number,
            tuple(_describe(value) for value in self.arguments),
            tuple(_describe(value) for value in self.results),
            self.is_brief,
        )

    def make_trees(self, arguments, result, strict=False):
        """What `entry.call_tree` and `entry.start` take apart and put together, from schemas: of all
        arguments, or None if each is a leaf, and of the result, or None if a tuple of leaves is
        wanted. None where that can't be done."""
        from alula import trees

        nodes = trees.for_calls(arguments, results=False, strict=strict) if arguments else None
        if arguments is not None and nodes is None:
            return None
        made = trees.for_calls(result, results=True) if self.is_whole and result else None
        return library.calls().Trees(len(self.arguments), nodes, len(self.results), made)

    def __call__(self, state, arrays):
        made = self.entry.call(state.address, tuple(arrays))
        if made is None:
            memory = tuple(dtypes.pack(v.dtype, a) for v, a in zip(self.arguments, arrays))
            shapes = tuple(array.shape for array in arrays)
            made = self.entry.call(state.address, memory, shapes)
        return self.complete(made)

    def complete(self, made):
        """Arrays of all that the extension gave."""
        if self.is_whole:
            return made
        return tuple(
            made[i] if value.dtype not in _PARTS else self._unpack(value.dtype, *made[i])
            for i, value in enumerate(self.results)
        )

    def _unpack(self, dtype, shape, memory):
        import numpy

        if dtype == dtypes.TOKEN:
            return numpy.empty(0, numpy.uint8)
        return _show(dtypes.unpack(dtype, numpy.frombuffer(memory, numpy.uint8), shape))

    def start(self, state, arrays, finish):
        """The same on the runtime's queue: `finish(results, error)` comes from its thread, one of
        both being None; results are what `complete` wants. What it gives has `cancel()`."""
        pending = self.entry.start(state.address, tuple(arrays), None, None, finish, state)
        if pending is None:
            memory = tuple(dtypes.pack(v.dtype, a) for v, a in zip(self.arguments, arrays))
            shapes = tuple(array.shape for array in arrays)
            pending = self.entry.start(state.address, memory, shapes, None, finish, state)
        return pending
