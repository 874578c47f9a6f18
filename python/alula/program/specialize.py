"""Static copies of functions whose sizes only calls know.

A function that has been called some times with one set of sizes is compiled for just these, in a thread
that steps back for others, while calls go on as before; then calls with these sizes take the copy. What
the copies of a program have in common with it, its weights, is there once; those that were not used for
longest go when copies take more than they may."""

import atexit
import collections
import hashlib
import os
import queue
import threading
import warnings
import weakref

import numpy as np

from alula import safetensors
from alula.bindings import compiler, interruptible, library, runtime
from alula.program import duration

AFTER = 3
MOST_BYTES = 256 << 20
# Sets of sizes whose calls are counted.
MOST_COUNTED = 4096
# Constants below this are in each copy.
SHARED_BYTES = 1024
NAME = "alula.specialized"
FILE = "weights"


class Weights:
    """Bytes of constants, each there once, whatever they are called."""

    def __init__(self):
        # As long as a copy, or the function itself, has them.
        self._known = weakref.WeakValueDictionary()

    def take(self, external):
        """Name -> array of what a safetensors file holds, and how many bytes are new."""
        found, new = {}, 0
        for name, array in safetensors.parse(external).items() if external else ():
            raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
            key = hashlib.blake2b(raw, digest_size=16).digest()
            known = self._known.get(key)
            if known is None:
                # A view would keep the whole file.
                known = self._known[key] = _copy(raw)
                new += raw.nbytes
            found[name] = known
        return found, new


def _copy(raw):
    """At a multiple of 64 bytes, as an artifact's own constants are: loads of vectors that cross
    cache lines take longer."""
    memory = np.empty(raw.nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    made = memory[start : start + raw.nbytes]
    made[:] = raw
    return made


class Copy:
    """The function for one set of sizes."""

    def __init__(self, artifact, weights, own_bytes, sizes, steps):
        self.sizes = sizes
        self.bytes = len(artifact) + own_bytes
        self._weights = weights
        executable = runtime.Executable(artifact, external=weights)
        self.state = runtime.State(executable)
        self.function = executable.functions[NAME]
        self.address = self.state.address
        self.function.is_brief = duration.is_brief(steps, sizes)
        self.entry = self.function.entry
        # Of results that are arrays of JAX as they are; None: their sizes are not known.
        avals = tuple(_aval(value) for value in self.function.results)
        self.avals = None if None in avals else avals
        self.special = library.calls().Special(
            self.entry, self.address, avals, (executable, self.state)
        )


class Specializer:
    """Of one function."""

    def __init__(self, symbol, types, text, compile_text, weights, after, returns, traced):
        self.after, self.most_bytes = after, MOST_BYTES
        self._name, self._text, self._types = symbol, text, types
        self._compile, self._weights = compile_text, weights
        self._gives_jax = returns == "jax" and traced.has_plain_results
        self._steps = traced.steps
        # Sizes -> copy, and the part of it that callers in C want.
        self._ready, self.specials = {}, {}
        self._counts = collections.OrderedDict()
        self._failed = {}
        self._lock = threading.Lock()

    def find(self, leaves):
        """The copy for the sizes of some arrays, or None."""
        try:
            copy = self._ready.get(tuple([leaf.shape for leaf in leaves]))
        except (AttributeError, TypeError):
            return None
        if copy is not None:
            copy.special.touch()
        return copy

    def count(self, leaves):
        """A call without a copy, which went well."""
        self.count_sizes(tuple([tuple(leaf.shape) for leaf in leaves]))

    def count_sizes(self, sizes):
        with self._lock:
            count = self._counts.pop(sizes, 0) + 1
            self._counts[sizes] = count
            if len(self._counts) > MOST_COUNTED:
                self._counts.popitem(last=False)
        if count == self.after and sizes not in self._failed:
            _worker().put(self, sizes)

    @property
    def copies(self):
        """The sizes of the copies that there are."""
        with self._lock:
            return list(self._ready)

    @property
    def bytes(self):
        with self._lock:
            return sum(copy.bytes for copy in self._ready.values())

    @property
    def failures(self):
        """Sizes -> why there is no copy for them."""
        return dict(self._failed)

    def make(self, sizes, cancel):
        """In the worker's thread."""
        try:
            artifact, external = self._compile(self._wrap(sizes), cancel)
            with self._lock:
                weights, own_bytes = self._weights.take(external)
            copy = Copy(artifact, weights, own_bytes, sizes, self._steps)
            if not self._gives_jax:
                copy.avals = None
        except Exception as error:  # noqa: BLE001
            if cancel.is_set:
                return
            # The program itself goes on as before, but this should not happen.
            self._failed[sizes] = str(error)
            warnings.warn(f"{self._name}() is not specialised for {sizes}: {error}", RuntimeWarning)
            return
        with self._lock:
            copy.special.touch()
            self._ready[sizes], self.specials[sizes] = copy, copy.special
            self._evict()

    def _evict(self):
        total = sum(copy.bytes for copy in self._ready.values())
        for copy in sorted(self._ready.values(), key=lambda copy: copy.special.used):
            if total <= self.most_bytes:
                break
            del self._ready[copy.sizes], self.specials[copy.sizes]
            self._counts.pop(copy.sizes, None)
            total -= copy.bytes

    def _wrap(self, sizes):
        """The program with a function of static arguments that calls the dynamic one."""
        given, operands, lines = [], [], []
        for i, (type_, shape) in enumerate(zip(self._types.arguments, sizes, strict=True)):
            static = type_.at(shape)
            given.append(f"%arg{i}: {static}")
            if static == type_.text:
                operands.append(f"%arg{i}")
                continue
            operands.append(f"%given{i}")
            lines.append(f"%given{i} = stablehlo.convert %arg{i} : ({static}) -> {type_.text}")
        results = ", ".join(self._types.results)
        count = len(self._types.results)
        taken = ", ".join(type_.text for type_ in self._types.arguments)
        names = ", ".join(f"%made#{i}" if count > 1 else "%made" for i in range(count))
        made = "" if count == 0 else "%made = " if count == 1 else f"%made:{count} = "
        lines.append(
            f"{made}func.call {self._name}({', '.join(operands)}) : ({taken}) -> ({results})"
        )
        lines.append(f"func.return {names} : {results}" if count else "func.return")
        return self._text.replace(
            PLACE,
            f'func.func public @"{NAME}"({", ".join(given)}) -> ({results}) {{\n'
            + "\n".join(lines)
            + "\n}\n",
        )


def _aval(value):
    """None: its sizes are not known, or JAX has no such type."""
    from alula.bindings import dtypes
    from alula.program import types

    if None in value.shape:
        return None
    return types.make_aval(value.shape, dtypes.to_numpy(value.dtype))


class TensorType:
    def __init__(self, shape, element, text):
        self._shape, self._element, self.text = shape, element, text

    def at(self, sizes):
        """The static type of a value of these sizes."""
        if None not in self._shape:
            return self.text
        return f"tensor<{''.join(f'{size}x' for size in sizes)}{self._element}>"


class FunctionTypes:
    """Of a function of a module of JAX's bindings."""

    def __init__(self, function):
        from jaxlib.mlir import ir

        type_ = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        self.arguments = []
        for given in type_.inputs:
            tensor = ir.RankedTensorType(given)
            shape = [
                None if tensor.is_dynamic_dim(i) else tensor.get_dim_size(i)
                for i in range(tensor.rank)
            ]
            self.arguments.append(TensorType(shape, str(tensor.element_type), str(given)))
        self.results = [str(result) for result in type_.results]


PLACE = "// alula: what calls it\n"


def hide_functions(text):
    """The text of a module without public functions, and with a place for one."""
    lines = text.splitlines(keepends=True)
    start = next(i for i, line in enumerate(lines) if line.startswith("module"))
    lines.insert(start + 1, PLACE)
    return "".join(
        line.replace("func.func public @", "func.func private @", 1)
        if line.lstrip().startswith("func.func public @")
        else line
        for line in lines
    )


class _Worker:
    """One thread for the process, which compiles one copy after the other."""

    def __init__(self):
        self._queue = queue.SimpleQueue()
        self._cancel = interruptible.Cancel()
        self._idle = threading.Condition()
        self._waiting = 0
        self._stopped = False
        self._thread = threading.Thread(target=self._work, name="alula-specialize", daemon=True)
        self._thread.start()
        # Nothing is compiled while the process goes.
        atexit.register(self._stop)

    def put(self, specializer, sizes):
        with self._idle:
            self._waiting += 1
        self._queue.put((specializer, sizes))

    def _work(self):
        try:
            # Of this thread, and of those that it starts.
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
        except (OSError, AttributeError):
            pass
        while not self._stopped:
            item = self._queue.get()
            if item is not None and not self._stopped:
                item[0].make(item[1], self._cancel)
            # Whoever waits for more must not keep a program alive.
            del item
            with self._idle:
                self._waiting -= 1
                self._idle.notify_all()

    def wait(self, timeout):
        with self._idle:
            return self._idle.wait_for(lambda: self._waiting == 0, timeout)

    def _stop(self):
        self._stopped = True
        self._cancel.set()
        self._queue.put(None)
        self._thread.join()


_only = None
_lock = threading.Lock()


def _worker():
    global _only
    with _lock:
        if _only is None:
            _only = _Worker()
        return _only


def _forget():
    """A child has no such thread."""
    global _only, _lock
    _only, _lock = None, threading.Lock()


os.register_at_fork(after_in_child=_forget)


def wait(timeout=None):
    """Until nothing is left to compile; whether that is so."""
    return _only is None or _only.wait(timeout)


def compile_quietly(text, values, options, cancel=None):
    """An artifact with its larger constants beside it."""
    return compiler.compile_program(
        text,
        values,
        external_file=FILE,
        external_minimum_bytes=SHARED_BYTES,
        external_as_used=True,
        cancel=cancel,
        **options,
    )
