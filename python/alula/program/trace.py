"""Runs a procedure once with JAX's tracers.

While it runs, attributes of the program are values: a read gives the declared
tree with fresh tracers, a store is remembered until the end. The function that
JAX sees takes the old values of all globals and the arguments, and gives the
results and the new values of those that were stored."""

import contextlib
import functools
import threading

import jax
import jax.extend.core

from alula.errors import TracerLeakError
from alula.program import containers, explain, types
from alula.program.slots import Slot


class _Local(threading.local):
    def __init__(self):
        self.scopes = []
        self.kernels = []


_local = _Local()


def current_scope(instance=None):
    """The innermost trace that runs in this thread, if it is of `instance`."""
    scope = _local.scopes[-1] if _local.scopes else None
    if instance is not None and scope is not None and scope.instance is not instance:
        return None
    return scope


def _trace_state():
    return jax.extend.core.get_opaque_trace_state(convention="nnx")


class Scope:
    """One trace of one entry point."""

    def __init__(self, instance, info, name, values):
        self.instance, self.info = instance, info
        self.values = dict(zip(info.table.slots, values))
        self.stored = {}
        self.prints = []
        # Tracers handed out -> their slots; both kept alive.
        self.targets = {}
        self.handed = containers.HandedOut()
        self.state = _trace_state()
        self.calls = [name]
        self.kernel_calls = []

    # ---- Globals ----

    def read(self, attribute):
        check_outside_kernels()
        self.handed.check()
        tree = attribute.unflatten(self._fresh)
        self.handed.add(attribute.name, tree)
        return tree

    def _fresh(self, slot):
        tracer = jax.lax.copy_p.bind(self.values[slot])
        self.targets[id(tracer)] = (tracer, slot)
        return tracer

    def store(self, attribute, tree):
        self._check_store()
        leaves = containers.match(tree, attribute.treedef, attribute.paths, attribute.name)
        for leaf, target, path in zip(leaves, attribute.leaves, attribute.paths):
            self._store_leaf(target, leaf, path)

    def store_tree(self, target, source):
        self._check_store()
        pairs, treedef = jax.tree_util.tree_flatten_with_path(target)
        found = []
        for _, leaf in pairs:
            known = self.targets.get(id(leaf))
            if known is None and not types.is_literal(leaf):
                raise TypeError(f"'store_global' expects a tree of global arrays. Got: {target!r}")
            found.append(known[1] if known else leaf)
        paths = [slot.path if isinstance(slot, Slot) else repr(slot) for slot in found]
        leaves = containers.match(source, treedef, paths, "the target")
        for leaf, slot, path in zip(leaves, found, paths):
            self._store_leaf(slot, leaf, path)

    def _check_store(self):
        check_outside_kernels()
        self.handed.check()
        if _trace_state() != self.state:
            raise TypeError(
                "globals cannot be assigned inside a traced sub-computation "
                "(scan/cond/vmap/grad/kernel); return the value and assign it in the procedure"
            )

    def _store_leaf(self, slot, value, path):
        if not isinstance(slot, Slot):
            if types.is_literal(value) and value == slot:
                return
            raise TypeError(
                f"'{path}' is the Python number {slot!r}, not an array: cannot store {value!r}"
            )
        if not slot.mutable:
            raise TypeError(f"global '{slot.path}' is immutable")
        self.values[slot] = self.stored[slot] = convert(value, slot)

    # ---- Calls ----

    def call(self, name, procedure, args, kwargs):
        if name in self.calls:
            cycle = " -> ".join([*self.calls, name])
            raise RecursionTypeError(f"procedures must not call themselves: {cycle}")
        check_outside_kernels()
        values = bind_call(procedure, name, args, kwargs)
        self.calls.append(name)
        try:
            return procedure.function(self.instance, *values)
        finally:
            self.calls.pop()

    def print(self, text, trees):
        check_outside_kernels()
        if _trace_state() != self.state:
            raise TypeError("Program.print cannot be used inside a traced sub-computation")
        self.prints.append((text, list(trees)))


class RecursionTypeError(TypeError, RecursionError):
    """A procedure calls itself, perhaps by way of others."""


def convert(value, slot):
    """A value as what a slot holds; TypeError if it is of another type."""
    wanted = slot.type
    try:
        given = types.Type(types.to_aval(value))
    except TypeError as error:
        raise TypeError(f"cannot store {value!r} into global '{slot.path}'") from error
    fits = given.shape == wanted.shape and (
        given.dtype == wanted.dtype
        or (
            given.weak
            and not given.key
            and not wanted.key
            and jax.numpy.promote_types(wanted.dtype, _weak_kind(given.dtype)) == wanted.dtype
        )
    )
    if not fits:
        raise TypeError(f"cannot store {given} into global '{slot.path}' of type {wanted}")
    if wanted.key:
        return value
    return jax.lax.convert_element_type(value, wanted.dtype)


def _weak_kind(dtype):
    """The Python type whose values are weakly of a type."""
    import numpy as np

    for kind, python in ((np.bool_, bool), (np.integer, int), (np.floating, float)):
        if jax.dtypes.issubdtype(dtype, kind):
            return python
    return complex


def bind_call(procedure, name, args, kwargs):
    """Arguments of a call from another procedure, in order and checked."""
    values = bind_names(procedure, name, args, kwargs)
    for parameter, value in zip(procedure.parameters, values):
        if parameter.is_static:
            continue
        leaves = containers.match(value, parameter.treedef, parameter.paths, parameter.name)
        for leaf, type_, path in zip(leaves, parameter.types, parameter.paths):
            given = types.Type(types.to_aval(leaf))
            if given.shape != type_.shape or (given.dtype != type_.dtype and not given.weak):
                raise TypeError(f"{name}() argument '{path}': expected {type_}, got {given}")
    return values


def bind_names(procedure, name, args, kwargs):
    """Values in the order of the parameters, as Python binds them."""
    names = [parameter.name for parameter in procedure.parameters]
    if len(args) > len(names):
        raise TypeError(f"{name}() takes {len(names)} arguments but {len(args)} were given")
    values = dict(zip(names, args))
    for key, value in kwargs.items():
        if key not in names:
            raise TypeError(f"{name}() got an unexpected argument '{key}'")
        if key in values:
            raise TypeError(f"{name}() got multiple values for argument '{key}'")
        values[key] = value
    for parameter in procedure.parameters:
        if parameter.is_static:
            values.setdefault(parameter.name, parameter.tree.value)
    missing = [key for key in names if key not in values]
    if missing:
        raise TypeError(f"{name}() missing arguments: {', '.join(map(repr, missing))}")
    return [values[key] for key in names]


def store_global(target, source):
    """Stores a tree into a tree of globals that was read in this procedure."""
    scope = current_scope()
    if scope is None:
        raise RuntimeError("store_global can only be used while a procedure is traced")
    scope.store_tree(target, source)


# ---- Kernels ----


def check_outside_kernels():
    if _local.kernels:
        raise TypeError("kernels cannot access program globals; pass them as arguments")


def make_kernel(function):
    @functools.wraps(function)
    def body(*args, **kwargs):
        _local.kernels.append(function)
        try:
            return function(*args, **kwargs)
        finally:
            _local.kernels.pop()

    return jax.jit(body)


def call_kernel(kernel, args, kwargs):
    scope = current_scope()
    if scope is not None:
        scope.handed.check()
        leaves = jax.tree.leaves((args, kwargs))
        scope.kernel_calls.append((kernel, len(leaves)))
    try:
        return kernel.jitted(*args, **kwargs)
    except TypeError as error:
        where = f"kernel '{kernel.export_name or kernel.__name__}'"
        if scope is not None:
            where += f" called by procedure '{scope.calls[-1]}'"
        add_note(error, f"in {where}")
        raise


def add_note(error, text):
    if hasattr(error, "add_note") and text not in getattr(error, "__notes__", ()):
        error.add_note(text)


# ---- Whole procedures ----


class Traced:
    """What is known of a procedure after its trace."""

    def __init__(self, name, procedure):
        self.name, self.procedure = name, procedure
        self.parameters = [p for p in procedure.parameters if not p.is_static]
        # Set while JAX traces.
        self.result = self.result_treedef = None
        self.stored, self.prints, self.kernel_calls = [], [], []
        self.jax = self.jaxpr = self.jitted = self.exported = None

    @property
    def argument_types(self):
        return [t for parameter in self.parameters for t in parameter.types]

    @property
    def argument_paths(self):
        return [path for parameter in self.parameters for path in parameter.paths]


@contextlib.contextmanager
def _entered(scope):
    _local.scopes.append(scope)
    kernels, _local.kernels = _local.kernels, []
    try:
        yield
    finally:
        _local.scopes.pop()
        _local.kernels = kernels


def trace(instance, info, name, procedure):
    """Traces an entry point; what JAX made of it is `.jax`."""
    made = Traced(name, procedure)
    if hasattr(procedure, "exported"):
        return _take_exported(made, procedure.exported)

    def run(old, arguments):
        scope = Scope(instance, info, name, old)
        with _entered(scope):
            values = iter(arguments)
            given = [
                parameter.tree.value
                if parameter.is_static
                else parameter.treedef.unflatten([next(values) for _ in parameter.types])
                for parameter in procedure.parameters
            ]
            result = procedure.function(instance, *given)
            scope.handed.check()
        made.result = result
        made.result_leaves, made.result_treedef = jax.tree.flatten(result)
        made.stored = list(scope.stored)
        made.kernel_calls = scope.kernel_calls
        printed = []
        made.prints = []
        for text, trees in scope.prints:
            leaves = jax.tree.leaves(trees)
            made.prints.append((text, len(leaves)))
            printed += leaves
        return made.result_leaves, [scope.stored[slot] for slot in made.stored], printed

    run.__name__ = run.__qualname__ = procedure.function.__name__
    old = [slot.type.struct() for slot in info.table.slots]
    arguments = [t.struct() for t in made.argument_types]
    jitted = jax.jit(run, keep_unused=True)
    try:
        made.jax = jitted.trace(old, arguments)
    except Exception as error:
        note = f"while tracing procedure '{name}' of program '{info.name}'"
        explained = explain.explain(error, made, info.table.slots)
        if explained is not None:
            add_note(explained, note)
            raise explained from error
        add_note(error, note)
        raise
    made.jaxpr = made.jax.jaxpr
    made.jitted, made.structs = jitted, (old, arguments)
    _check_inputs(made, info, jitted, old, arguments)
    _check_kernels(made, info)
    return made


def _take_exported(made, exported):
    """What another program has traced and lowered."""
    if exported.nr_devices != 1:
        raise ValueError(
            f"procedure '{made.name}': exported for {exported.nr_devices} devices; there is one"
        )
    if exported.ordered_effects:
        raise ValueError(f"procedure '{made.name}': exported with ordered effects")
    made.exported = exported
    made.result_types = [types.Type(aval) for aval in exported.out_avals]
    made.result_treedef = exported.out_tree
    made.result_leaves = list(range(exported.out_tree.num_leaves))
    made.result = exported.out_tree.unflatten(made.result_leaves)
    return made


def _check_inputs(made, info, jitted, old, arguments):
    """JAX makes an input of a tracer that has left its trace."""
    wanted = len(old) + len(arguments)
    given = len(made.jaxpr.jaxpr.invars)
    if given == wanted:
        return
    text = (
        f"procedure '{made.name}' of program '{info.name}' uses {given - wanted} value(s) that "
        "belong to another trace: a value of a scan, cond, vmap, grad or kernel body was kept "
        "and used outside of it"
    )
    reason = None
    try:
        jax.clear_caches()
        with jax.checking_leaks():
            jitted.trace(old, arguments)
    except Exception as error:
        reason = error
    raise TracerLeakError(text) from reason


def _check_kernels(made, info):
    """A kernel with more inputs than arguments has captured a tracer."""
    calls = [e for e in made.jaxpr.jaxpr.eqns if e.primitive.name in ("jit", "pjit")]
    for kernel, count in made.kernel_calls:
        for i, equation in enumerate(calls):
            if equation.params.get("name") != kernel.__name__:
                continue
            del calls[i]
            if len(equation.invars) > count:
                raise TypeError(
                    f"kernel '{kernel.export_name or kernel.__name__}' captures a value that "
                    f"procedure '{made.name}' computes; pass it as an argument"
                )
            break
