"""The C APIs of compiler and runtime, as ctypes sees them.

Element types are MLIR's names (`f32`, `complex<f64>`), arrays are numpy's.
"""

import ctypes
import os
import pathlib

import numpy as np
import tensor_file
from alula.bindings import dtypes

_STATUS_OK = 0
CODE_OF = {mlir: code for code, (_, _, mlir) in dtypes.TABLE.items()}
NAME_OF = {code: name for name, code in CODE_OF.items()}


class _Diagnostic(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", ctypes.c_size_t),
        ("is_error", ctypes.c_int),
        ("location", ctypes.c_char_p),
        ("message", ctypes.c_char_p),
    ]


_Listener = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(_Diagnostic))


class _CompileOptions(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", ctypes.c_size_t),
        ("targets", ctypes.POINTER(ctypes.c_char_p)),
        ("target_count", ctypes.c_size_t),
        ("on_diagnostic", _Listener),
        ("user", ctypes.c_void_p),
        ("until", ctypes.c_char_p),
    ]


class _InstanceOptions(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", ctypes.c_size_t),
        ("device", ctypes.c_char_p),
        ("thread_count", ctypes.c_uint32),
        ("allocator", ctypes.c_void_p),
        ("thread_pool", ctypes.c_void_p),
    ]


class CompileError(Exception):
    """The first error, without its place; `errors` are all (location, message)."""

    def __init__(self, errors: list[tuple[str, str]]):
        super().__init__(errors[0][1] if errors else "failed without saying why")
        self.errors = errors
        self.location = errors[0][0] if errors else ""


class RuntimeFailure(Exception):
    pass


class Compiler:
    def __init__(self, build: pathlib.Path):
        self._library = ctypes.CDLL(str(build / "lib" / "libalula_compiler.so"))
        self._library.alula_compile.argtypes = [
            ctypes.c_char_p,
            ctypes.c_size_t,
            ctypes.POINTER(_CompileOptions),
            ctypes.POINTER(ctypes.c_void_p),
            ctypes.POINTER(ctypes.c_size_t),
            ctypes.POINTER(ctypes.c_void_p),
        ]
        self._library.alula_compile.restype = ctypes.c_uint
        self._library.alula_compile_free.argtypes = [ctypes.c_void_p]
        self._library.alula_compile_free.restype = None

    def compile(self, program: bytes, targets: list[str], until: str | None = None) -> bytes:
        """The artifact, or the program after the room `until`."""
        errors = []

        def listen(_, diagnostic):
            said = diagnostic.contents
            if said.is_error:
                where, text = (s.decode(errors="replace") for s in (said.location, said.message))
                errors.append((where, text))

        names = (ctypes.c_char_p * len(targets))(*(name.encode() for name in targets))
        # The object must live until the call ends.
        listener = _Listener(listen)
        options = _CompileOptions(
            ctypes.sizeof(_CompileOptions),
            names,
            len(targets),
            listener,
            None,
            until and until.encode(),
        )
        artifact, size, message = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_void_p()
        status = self._library.alula_compile(
            program,
            len(program),
            ctypes.byref(options),
            ctypes.byref(artifact),
            ctypes.byref(size),
            ctypes.byref(message),
        )
        if status != _STATUS_OK:
            if message.value:
                text = ctypes.string_at(message.value).decode(errors="replace")
                self._library.alula_compile_free(message)
                errors = errors or [("", text)]
            raise CompileError(errors)
        data = ctypes.string_at(artifact.value, size.value)
        self._library.alula_compile_free(artifact)
        return data


class Runtime:
    """One instance, with one thread unless told otherwise."""

    def __init__(self, build: pathlib.Path, thread_count: int = 1, device: str | None = None):
        # ALULA_DEVICE=afar: the device that keeps the host out (runtime/device/afar).
        device = device or os.environ.get("ALULA_DEVICE") or "cpu"
        name = "libalula_runtime_afar.so" if device == "afar" else "libalula_runtime.so"
        self.library = ctypes.CDLL(str(build / "lib" / name))
        pointer, u32 = ctypes.c_void_p, ctypes.c_uint32
        for name, result, arguments in (
            ("alula_error_get_message", ctypes.c_char_p, [pointer]),
            ("alula_error_destroy", None, [pointer]),
            ("alula_instance_create", pointer, [pointer, pointer]),
            ("alula_instance_destroy", None, [pointer]),
            ("alula_buffer_create", pointer, [pointer, u32, u32, pointer, pointer]),
            ("alula_buffer_release", None, [pointer]),
            (
                "alula_buffer_read",
                pointer,
                [pointer, ctypes.c_size_t, pointer, ctypes.c_size_t, pointer],
            ),
            (
                "alula_buffer_write",
                pointer,
                [pointer, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, pointer],
            ),
            ("alula_buffer_get_bytes", ctypes.c_size_t, [pointer]),
            ("alula_buffer_get_dtype", u32, [pointer]),
            ("alula_buffer_get_rank", u32, [pointer]),
            ("alula_buffer_get_dims", ctypes.POINTER(ctypes.c_int64), [pointer]),
            (
                "alula_executable_load_memory",
                pointer,
                [pointer, ctypes.c_char_p, ctypes.c_size_t, pointer, pointer],
            ),
            ("alula_executable_destroy", None, [pointer]),
            ("alula_executable_find_function", pointer, [pointer, ctypes.c_char_p, pointer]),
            ("alula_executable_get_argument_count", u32, [pointer, u32]),
            ("alula_executable_get_result_count", u32, [pointer, u32]),
            (
                "alula_call",
                pointer,
                [pointer, u32, pointer, pointer, ctypes.c_size_t, pointer, ctypes.c_size_t],
            ),
        ):
            function = getattr(self.library, name)
            function.restype, function.argtypes = result, arguments
        options = _InstanceOptions(ctypes.sizeof(_InstanceOptions), device.encode(), thread_count)
        self.instance = ctypes.c_void_p()
        self.check(
            self.library.alula_instance_create(ctypes.byref(options), ctypes.byref(self.instance))
        )

    def check(self, error) -> None:
        if error:
            text = self.library.alula_error_get_message(error).decode(errors="replace")
            self.library.alula_error_destroy(error)
            raise RuntimeFailure(text)

    def load(self, artifact: bytes) -> "Executable":
        return Executable(self, artifact)

    def new_buffer(self, array: np.ndarray, kind: str) -> "Buffer":
        dims = (ctypes.c_int64 * array.ndim)(*array.shape)
        handle = ctypes.c_void_p()
        self.check(
            self.library.alula_buffer_create(
                self.instance, CODE_OF[kind], array.ndim, dims, ctypes.byref(handle)
            )
        )
        buffer = Buffer(self, handle.value)
        buffer.write(dtypes.pack(CODE_OF[kind], np.ascontiguousarray(array)).tobytes())
        return buffer


class Buffer:
    """A buffer of the runtime; release it by hand."""

    def __init__(self, runtime: Runtime, handle: int):
        self._runtime, self._library, self.handle = runtime, runtime.library, handle

    @property
    def size(self) -> int:
        return self._library.alula_buffer_get_bytes(self.handle)

    def write(self, data: bytes) -> None:
        if len(data) != self.size:
            raise RuntimeFailure(f"{len(data)} bytes for a buffer of {self.size}")
        self._runtime.check(self._library.alula_buffer_write(self.handle, 0, data, len(data), None))

    def read(self) -> bytes:
        data = ctypes.create_string_buffer(max(self.size, 1))
        self._runtime.check(self._library.alula_buffer_read(self.handle, 0, data, self.size, None))
        return data.raw[: self.size]

    @property
    def type(self) -> str:
        """As MLIR writes it inside tensor<>."""
        rank = self._library.alula_buffer_get_rank(self.handle)
        dims = self._library.alula_buffer_get_dims(self.handle)
        kind = NAME_OF[self._library.alula_buffer_get_dtype(self.handle)]
        return "".join(f"{dims[i]}x" for i in range(rank)) + kind

    def array(self) -> np.ndarray:
        shape, kind = tensor_file.split_type(self.type)
        return dtypes.unpack(CODE_OF[kind], np.frombuffer(self.read(), np.uint8), shape)

    def release(self) -> None:
        self._library.alula_buffer_release(self.handle)


class Executable:
    def __init__(self, runtime: Runtime, artifact: bytes):
        self.runtime = runtime
        handle = ctypes.c_void_p()
        runtime.check(
            runtime.library.alula_executable_load_memory(
                runtime.instance, artifact, len(artifact), None, ctypes.byref(handle)
            )
        )
        self.handle = handle.value

    def find(self, name: str) -> int:
        number = ctypes.c_uint32()
        self.runtime.check(
            self.runtime.library.alula_executable_find_function(
                self.handle, name.encode(), ctypes.byref(number)
            )
        )
        return number.value

    def call(
        self, function: int, arguments: list[Buffer], into: list[Buffer] | None = None
    ) -> list[Buffer]:
        """Runs a function; `into` are buffers to write the results to."""
        library = self.runtime.library
        count = library.alula_executable_get_result_count(self.handle, function)
        given = (ctypes.c_void_p * len(arguments))(*(a.handle for a in arguments))
        results = (ctypes.c_void_p * count)(*(b.handle for b in into or []))
        self.runtime.check(
            library.alula_call(self.handle, function, None, given, len(arguments), results, count)
        )
        return into or [Buffer(self.runtime, handle) for handle in results]

    def destroy(self) -> None:
        self.runtime.library.alula_executable_destroy(self.handle)
