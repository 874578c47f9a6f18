"""What a class body declares: globals, procedures, kernels."""

import functools
import inspect

import jax

from alula.bindings import dtypes
from alula.program import types


def like(tree):
    """The same tree with the types of its leaves instead of values."""
    return jax.tree.map(types.to_aval, tree)


def _show(aval):
    return repr(aval)


class Declaration:
    """One exported name. `export_name` is the attribute's, if not given."""

    def __init__(self, export_name=None):
        self.export_name = export_name

    def named(self, name):
        """A copy that has a name."""
        made = self.__class__.__new__(self.__class__)
        made.__dict__.update(self.__dict__)
        if made.export_name is None:
            made.export_name = name
        return made


class Global(Declaration):
    """A tree of arrays that the program owns."""

    def __init__(self, value, *, export_name=None, initialize=False, mutable=True, sugar=False):
        super().__init__(export_name)
        leaves = jax.tree.leaves(value)
        if not all(types.is_value(leaf) for leaf in leaves):
            raise ValueError(
                f"Value passed to export_global() must be a tree of JAX values, but got: {value!r}"
            )
        if initialize not in (True, False, "zeros"):
            raise ValueError(f"initialize must be True, False or 'zeros', not {initialize!r}")
        if not mutable and initialize is False:
            raise ValueError("a global that is neither initialized nor mutable never has a value")
        self.value, self.initialize, self.mutable = value, initialize, mutable
        self.is_sugar = sugar

    def __repr__(self):
        return (
            f"<global {self.export_name}: initialize={self.initialize}, "
            f"mutable={self.mutable}, value={self.value}>"
        )


class Kernel(Declaration):
    """A pure function that procedures call; outside of them, a jitted one."""

    def __init__(self, function, *, export_name=None, jitted=None):
        super().__init__(export_name)
        from alula.program import trace

        self.function = function
        self.jitted = jitted or trace.make_kernel(function)
        functools.update_wrapper(self, function)

    def __call__(self, *args, **kwargs):
        from alula.program import trace

        return trace.call_kernel(self, args, kwargs)

    def __repr__(self):
        return f"<kernel {self.export_name or self.__name__}>"


def kernel(function):
    """Marks a function of a class body as a kernel: private, pure, without
    `self`, as `jax.jit` makes one."""
    if isinstance(function, Kernel):
        return function
    if not callable(function):
        raise TypeError(f"a kernel must be a function, not {function!r}")
    return Kernel(function)


class Extern(Declaration):
    """A function of the host, which the artifact calls by name."""

    def __init__(self, name, result):
        super().__init__(name)
        self.result = like(result)

    def __call__(self, *args):
        from alula.program import trace

        trace.check_outside_kernels()
        flat, _ = jax.tree.flatten(args)
        leaves, treedef = jax.tree.flatten(self.result)
        specs = [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in leaves]
        made = jax.ffi.ffi_call(self.export_name, specs, has_side_effect=True)(*flat)
        return treedef.unflatten(made)

    def __repr__(self):
        return f"<extern {self.export_name}>"


class Constant:
    """Any object that procedures may use while they are traced."""

    def __init__(self, value):
        self.value = value


class Static:
    """A parameter's value that is known when the procedure is traced."""

    def __init__(self, value):
        self.value = value


class Parameter:
    """A parameter of a procedure and the tree of its types."""

    def __init__(self, name, tree):
        self.name, self.tree = name, tree
        self.is_static = isinstance(tree, Static)
        paths, self.treedef = jax.tree_util.tree_flatten_with_path(() if self.is_static else tree)
        self.paths = [name + _suffix(path) for path, _ in paths]
        self.types = [types.Type(types.to_aval(leaf)) for _, leaf in paths]


def _suffix(path):
    text = jax.tree_util.keystr(path, simple=True, separator=".")
    return "." + text if text else ""


class Procedure(Declaration):
    """An entry point: a function of the program and of values with types."""

    def __init__(self, function, *, export_name=None, signature=None):
        super().__init__(export_name)
        self.function = function
        self.parameters = read_parameters(function, export_name or function.__name__, signature)
        functools.update_wrapper(self, function)

    def __repr__(self):
        shown = ", ".join(_show(parameter.tree) for parameter in self.parameters)
        return f"<def {self.export_name}([{shown}])>"

    def __call__(self, program, *args, **kwargs):
        return getattr(program, self.__name__)(*args, **kwargs)


def read_parameters(function, name, signature=None):
    """The parameters after `self`, with the types that their defaults say."""
    declared = list(inspect.signature(function).parameters.values())
    if not declared:
        raise TypeError(f"export function '{name}' is expected to have at least a 'self' parameter")
    rest = declared[1:]
    for parameter in [declared[0], *rest]:
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            raise TypeError(f"export function '{name}' can only have positional parameters")
    if signature is not None and len(signature) != len(rest):
        raise TypeError(
            f"export function '{name}': the signature has {len(signature)} types for "
            f"{len(rest)} parameters"
        )
    return [
        Parameter(parameter.name, _read_type(name, parameter, signature and signature[i]))
        for i, parameter in enumerate(rest)
    ]


def _read_type(name, parameter, given):
    tree = given
    for source in (parameter.default, parameter.annotation):
        if tree is None and source is not inspect.Parameter.empty and source is not None:
            if source is parameter.default or not isinstance(source, (str, type)):
                tree = source
    if tree is None:
        raise TypeError(
            f"export function '{name}' missing default value annotation "
            f"for parameter '{parameter.name}'"
        )
    if isinstance(tree, Static):
        return tree
    for leaf in jax.tree.leaves(tree):
        if not types.is_abstract(leaf):
            raise TypeError(
                f"export function '{name}', parameter '{parameter.name}': expected tree of "
                f"abstract values but got: {tree!r}; use like() to say the types of values"
            )
    return tree


def describe_types(leaf_types):
    return ", ".join(dtypes.describe(t.dtype.name, t.shape) for t in leaf_types)
