"""alula/runtime.h: artifacts that are loaded, their functions and states."""

import ctypes
import functools
import threading
import weakref
from ctypes import POINTER, byref, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32
from ctypes import c_uint8, c_uint64, c_void_p

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


class CallOptions(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", c_size_t),
        ("state", c_void_p),
        ("donate", POINTER(c_uint8)),
        ("cancel", POINTER(c_int)),
        ("trace", c_void_p),
        ("trace_user", c_void_p),
        ("collectives", c_void_p),
        ("participant", c_uint32),
    ]


ON_DONE = ctypes.CFUNCTYPE(None, c_void_p)


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
        "alula_buffer_wrap": (
            error,
            [c_void_p, c_uint32, c_uint32, c_void_p, c_void_p, c_size_t]
            + [c_void_p, c_void_p, POINTER(c_void_p)],
        ),
        "alula_buffer_release": (None, [c_void_p]),
        "alula_buffer_get_data": (c_void_p, [c_void_p]),
        "alula_buffer_get_bytes": (c_size_t, [c_void_p]),
        "alula_buffer_get_dtype": (c_uint32, [c_void_p]),
        "alula_buffer_get_rank": (c_uint32, [c_void_p]),
        "alula_buffer_get_dims": (POINTER(c_int64), [c_void_p]),
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
        "alula_call": (
            error,
            [c_void_p, c_uint32, POINTER(CallOptions), POINTER(c_void_p), c_size_t]
            + [POINTER(c_void_p), c_size_t],
        ),
        "alula_call_async": (
            error,
            [c_void_p, c_uint32, POINTER(CallOptions), POINTER(c_void_p), c_size_t]
            + [POINTER(c_void_p), c_size_t, POINTER(c_void_p)],
        ),
        "alula_event_wait": (error, [c_void_p]),
        "alula_event_on_done": (None, [c_void_p, ON_DONE, c_void_p]),
        "alula_event_destroy": (None, [c_void_p]),
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
    check(functions().alula_instance_create(None, byref(instance)))
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


class _Memory:
    """Bytes of a buffer of the runtime, as NumPy sees them; keeps them alive."""

    __slots__ = ("__array_interface__", "_buffer", "__weakref__")

    def __init__(self, buffer):
        lib = functions()
        self._buffer = buffer
        size = lib.alula_buffer_get_bytes(buffer)
        self.__array_interface__ = {
            "version": 3,
            "typestr": "|u1",
            "shape": (size,),
            "data": (lib.alula_buffer_get_data(buffer) if size else 1, False),
        }

    def __del__(self):
        functions().alula_buffer_release(self._buffer)


class Executable:
    """A loaded artifact."""

    def __init__(self, source, external_directory=None, max_global_bytes=0):
        lib = functions()
        handle = c_void_p()
        options = LoadOptions(struct_bytes=ctypes.sizeof(LoadOptions))
        options.max_global_bytes = max_global_bytes
        if external_directory is not None:
            options.external_directory = str(external_directory).encode()
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


def _release(buffers):
    for buffer in buffers:
        if buffer:
            functions().alula_buffer_release(buffer)


# Asynchronous calls by their events.
_running = {}


@ON_DONE
def _on_done(event):
    end, *_ = _running.pop(event)
    end()


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

    made = library.calls().Library(library.runtime()._handle, arrays.Array, numpy.ndarray, check)
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
        self._types = [dtypes.to_numpy(v.dtype) if v.dtype != 31 else None for v in self.results]
        # What does not change from call to call.
        self._shape_arrays = {}
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

    def _dims(self, shape):
        found = self._shape_arrays.get(shape)
        if found is None:
            found = self._shape_arrays[shape] = (c_int64 * len(shape))(*shape)
        return found

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
        )

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

    def _wrap(self, arrays, arguments, packed):
        lib, device = functions(), instance()
        handle = c_void_p()
        for i, (array, value) in enumerate(zip(arrays, self.arguments)):
            memory = array
            if value.dtype in dtypes.PACKING:
                memory = dtypes.pack(value.dtype, array)
                packed.append(memory)
            check(
                lib.alula_buffer_wrap(
                    device,
                    value.dtype,
                    array.ndim,
                    self._dims(array.shape),
                    memory.ctypes.data,
                    memory.nbytes,
                    None,
                    None,
                    byref(handle),
                )
            )
            arguments[i] = handle.value

    def start(self, state, arrays, finish):
        """The same on the runtime's queue: `finish(results, error)` comes from
        its thread, one of both being None. Gives a function that cancels."""
        lib = functions()
        count = len(arrays)
        arguments = (c_void_p * count)()
        results = (c_void_p * len(self.results))()
        packed = []
        cancel = c_int(0)
        options = CallOptions(
            struct_bytes=ctypes.sizeof(CallOptions),
            state=state.handle,
            cancel=ctypes.pointer(cancel),
        )
        event = c_void_p()
        try:
            self._wrap(arrays, arguments, packed)
            check(
                lib.alula_call_async(
                    self._handle,
                    self.number,
                    byref(options),
                    arguments,
                    count,
                    results,
                    len(self.results),
                    byref(event),
                )
            )
        finally:
            _release(arguments)

        def end():
            made = error = None
            try:
                check(lib.alula_event_wait(event))
                made = [self._take(buffer, i) for i, buffer in enumerate(results)]
            except BaseException as raised:  # noqa: BLE001
                error = raised
            lib.alula_event_destroy(event)
            finish(made, error)

        # All that the call uses lives until it has ended.
        _running[event.value] = (end, state, arrays, packed, options, cancel)
        lib.alula_event_on_done(event, _on_done, event)

        def ask_to_end():
            cancel.value = 1

        return ask_to_end

    def _take(self, buffer, number):
        import numpy

        value = self.results[number]
        shape = value.shape
        if None in shape:
            lib = functions()
            dims = lib.alula_buffer_get_dims(buffer)
            shape = tuple(dims[i] for i in range(len(shape)))
        raw = numpy.asarray(_Memory(buffer))
        if value.dtype in dtypes.PACKING:
            return _show(dtypes.unpack(value.dtype, raw, shape))
        return _show(raw.view(self._types[number]).reshape(shape))
