"""Python functions that programs call: `pure_callback`, `io_callback`,
`debug.print`, `debug.callback` and checks that fail when the program runs.

A program holds `stablehlo.custom_call @alula.python_callback` with a number and
the token of this process, never an address. The plugin knows one function of
this process, `_call`, for as long as the process lives; it looks the number up.
A program that outlives its process, in a cache or a file, fails in words."""

import atexit
import ctypes
import itertools
import math
import os
import threading
import traceback

import numpy as np
from alula.bindings import dtypes
from jax_plugins.alula import platforms

TARGET = "alula.python_callback"
# Never 0, fits a signed 64-bit integer.
TOKEN = int.from_bytes(os.urandom(7), "little") | 1

TOKEN_DTYPE = dtypes.TOKEN


class _Array(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
        ("rank", ctypes.c_uint32),
        ("dtype", ctypes.c_uint32),
    ]


class _Call(ctypes.Structure):
    """PythonCall of pjrt/python_callbacks.h."""

    _fields_ = [
        ("kind", ctypes.c_int64),
        ("id", ctypes.c_int64),
        ("operand_count", ctypes.c_uint32),
        ("result_count", ctypes.c_uint32),
        ("operands", ctypes.POINTER(_Array)),
        ("results", ctypes.POINTER(_Array)),
        ("message", ctypes.c_void_p),
        ("message_bytes", ctypes.c_uint64),
        ("unloaded", ctypes.POINTER(ctypes.c_int64)),
        ("unloaded_count", ctypes.c_uint64),
    ]


RUN, LOADED, AT_EXIT = 0, 1, 2

_numbers = itertools.count(1)
_functions = {}
# How many lowered and loaded programs need a function.
_users = {}
_lock = threading.RLock()


def _use(number, change):
    with _lock:
        _users[number] = _users.get(number, 0) + change
        if _users[number] <= 0:
            _users.pop(number)
            _functions.pop(number, None)


class _Registration:
    """Keeps a function callable for as long as its lowered program lives; the
    plugin tells how long the loaded ones do."""

    def __init__(self, function):
        self.number = next(_numbers)
        _functions[self.number] = function
        _use(self.number, +1)

    def __del__(self):
        # When Python ends, nothing may be left to tell.
        if _use is not None:
            _use(self.number, -1)


def _shape(array):
    return tuple(array.dims[i] for i in range(array.rank))


def _bytes(array):
    """Memory of the program's."""
    count = dtypes.packed_bytes(array.dtype, math.prod(_shape(array)))
    if count == 0:
        return np.empty(0, np.uint8)
    return np.frombuffer((ctypes.c_uint8 * count).from_address(array.data), np.uint8)


def _write(array, value):
    wanted = np.empty(_shape(array), dtypes.to_numpy(array.dtype))
    np.copyto(wanted, value)
    packed = dtypes.pack(array.dtype, wanted.reshape(-1))
    np.copyto(_bytes(array), packed.view(np.uint8))


def _call_with_clients(function, process):
    """At the end of the process, when JAX gives up its clients: programs may be
    compiled until then."""
    import jax._src.xla_bridge as xla_bridge

    give_up = xla_bridge._clear_backends

    def call_and_give_up():
        # Who compiles is a thread, and threads are not forked.
        if os.getpid() == process:
            function()
        give_up()

    xla_bridge._clear_backends = call_and_give_up


def _run(call):
    function = _functions.get(call.id)
    if function is None:
        raise RuntimeError("the program's Python function is gone")
    arrays = [call.operands[i] for i in range(call.operand_count)]
    operands = [
        dtypes.unpack(array.dtype, _bytes(array).copy(), _shape(array))
        for array in arrays
        if array.dtype != TOKEN_DTYPE
    ]
    values = function(*operands)
    arrays = [call.results[i] for i in range(call.result_count)]
    results = [array for array in arrays if array.dtype != TOKEN_DTYPE]
    for result, value in zip(results, values, strict=True):
        _write(result, value)


@ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(_Call))
def _call(pointer):
    call = pointer.contents
    try:
        for i in range(call.unloaded_count):
            _use(call.unloaded[i], -1)
        if call.kind == LOADED:
            _use(call.id, +1)
        elif call.kind == AT_EXIT:
            function = ctypes.CFUNCTYPE(None)(call.id)
            atexit.register(_call_with_clients, function, os.getpid())
        else:
            _run(call)
        return 0
    except BaseException:
        text = "CpuCallback error calling callback: " + traceback.format_exc()
        room = call.message_bytes - 1
        encoded = text.encode(errors="replace")
        # What was raised stands at the end.
        encoded = encoded if len(encoded) <= room else b"..." + encoded[-(room - 3) :]
        ctypes.memmove(call.message, encoded + b"\0", len(encoded) + 1)
        return 1


def address() -> int:
    return ctypes.cast(_call, ctypes.c_void_p).value


def _checked(callback, result_avals):
    """The callback, whose results are then of the types that were promised."""
    from jax._src import dtypes

    def call(*operands):
        values = callback(*operands)
        if len(values) != len(result_avals):
            raise RuntimeError(
                "Mismatched number of outputs from callback. "
                f"Expected: {len(result_avals)}, Actual: {len(values)}"
            )
        values = [dtypes.canonicalize_value(np.asarray(value)) for value in values]
        for i, (value, aval) in enumerate(zip(values, result_avals)):
            if value.shape != aval.shape:
                raise RuntimeError(
                    f"Incorrect output shape for return value #{i}: "
                    f"Expected: {aval.shape}, Actual: {value.shape}"
                )
            if value.dtype != aval.dtype:
                raise RuntimeError(
                    f"Incorrect output dtype for return value #{i}: "
                    f"Expected: {aval.dtype}, Actual: {value.dtype}"
                )
        return values

    return call


def _emit(ctx, callback, token, operands, result_avals, has_side_effect):
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir.dialects import hlo

    registration = _Registration(_checked(callback, result_avals))
    ctx.module_context.add_keepalive(registration)
    types, _ = mlir.ir_tree_registry.flatten(
        [mlir.aval_to_ir_types(ctx.module_context, aval) for aval in result_avals]
    )
    operands, _ = mlir.ir_tree_registry.flatten(operands)
    operands = list(operands)
    if token:
        types = [hlo.TokenType.get(), *types]
        operands = [token, *operands]
    op = mlir.custom_call(
        TARGET,
        result_types=types,
        operands=operands,
        backend_config=f"{registration.number} {TOKEN}",
        has_side_effect=has_side_effect or token is not None,
    )
    results = list(op.results)
    if token:
        token = results.pop(0)
    return results, token, registration


def register(platform: str) -> None:
    """Adds what `callback` lacks for a platform of ours."""
    import jax._src.checkify as checkify
    import jax._src.debugging as debugging
    from jax._src.interpreters import mlir

    _extend_emit()
    # A check that nobody functionalized is JAX's own error; with
    # jax_xla_runtime_errors it calls Python.
    mlir.register_lowering(checkify.check_p, checkify.check_lowering_rule, platform=platform)
    for primitive, rule in (
        (debugging.debug_callback_p, debugging.debug_callback_lowering),
        (debugging.debug_print_p, debugging.debug_print_lowering_rule),
    ):
        mlir.register_lowering(primitive, rule, platform=platform, cacheable=False)


def _extend_emit() -> None:
    import jax._src.callback as jax_callback

    if getattr(jax_callback.emit_python_callback, "alula", False):
        return
    other = jax_callback.emit_python_callback

    def emit_python_callback(
        ctx, callback, token, operands, operand_avals, result_avals, *, has_side_effect, **options
    ):
        names = tuple(ctx.module_context.platforms)
        if len(names) == 1 and names[0] in platforms.DEVICES:
            return _emit(ctx, callback, token, operands, result_avals, has_side_effect)
        return other(
            ctx,
            callback,
            token,
            operands,
            operand_avals,
            result_avals,
            has_side_effect=has_side_effect,
            **options,
        )

    emit_python_callback.alula = True
    jax_callback.emit_python_callback = emit_python_callback
