"""Plain functions as programs: `compile` to call them, `export` for a file."""

import functools
import inspect
import typing

import jax

from alula import html, trees
from alula.bindings import library
from alula.program import api, declarations, duration, types
from alula.program import options as option_names
from alula.program.classes import Program, ProgramMeta


def compile(function, *specs, name=None, static_argnums=(), **options):
    """A compiled function. `specs` are trees of types, or of values that have
    them, one for each argument; nothing is given for a static one but its
    value. Also takes a `jax.export.Exported`, or its serialized bytes.

    Options: `targets`, names of machines, this one by default; `custom_calls`,
    names of functions that `register_custom_call` has or will have;
    `dump_directory`, where the program is written after each stage; `cache_directory`,
    where artifacts are kept and taken from if they were made before; `returns`,
    "jax" or "numpy", what arrays the function gives; `compile`, "eager" or
    "lazy", at the first call; `specialize_after`, how many calls with the same
    sizes have a function that works for all of them compiled for these (in the
    background; 0: never)."""
    known = (*option_names.COMPILE, "returns", "compile", "specialize_after")
    option_names.check("compile", options, known, ("name", "static_argnums"))
    return _compiled_type()(_make(function, specs, name, static_argnums), options)


def export(function, *specs, name=None, static_argnums=(), weights="inline", **options):
    """The artifact of a function: `alula.export(f, spec).save("f.alula")`. Options
    are those of `Program.get_compiled_artifact`."""
    named = ("name", "static_argnums", "weights")
    option_names.check("export", options, option_names.ARTIFACT, named)
    made = _make(function, specs, name, static_argnums)
    return api.get_compiled_artifact(made(), weights=weights, **options)


def export_functions(functions, *, name="functions", weights="inline", **options):
    """The artifact of several functions, which share what they hold in common:
    {"encode": (f, spec), "decode": (g, spec)}. Options are those of
    `Program.get_compiled_artifact`."""
    option_names.check("export_functions", options, option_names.ARTIFACT, ("name", "weights"))
    body = {}
    for key, value in functions.items():
        function, *specs = value if isinstance(value, (tuple, list)) else (value,)
        body[key] = _procedure(function, specs, key, ())
    made = ProgramMeta("Functions", (Program,), body, export_name=name)
    return api.get_compiled_artifact(made(), weights=weights, **options)


def register_custom_call(name, function):
    """Programs that call `name` (see `Program.extern`) call `function` in this
    process: NumPy arrays in, an array or a sequence of them out."""
    from alula.bindings import custom_calls

    custom_calls.register(name, function)


def from_exported(exported, *, name="main"):
    """A program class with one procedure: what `jax.export` made."""
    return _make(exported, (), name, ())


def _make(function, specs, name, static):
    name = name or _name_of(function)
    procedure = _procedure(function, specs, name, static)
    return ProgramMeta(name.title(), (Program,), {name: procedure}, export_name=name)


def _name_of(function):
    name = getattr(function, "fun_name", None) or getattr(function, "__name__", "main")
    return name if name.isidentifier() else "main"


def _procedure(function, specs, name, static):
    if isinstance(function, (bytes, bytearray)):
        function = jax.export.deserialize(bytearray(function))
    if isinstance(function, jax.export.Exported):
        return _imported(function, name)
    if not callable(function):
        raise TypeError(f"alula.compile takes a function or a jax.export.Exported: {function!r}")
    static = {static} if isinstance(static, int) else set(static)
    names = _parameter_names(function, len(specs))
    made = declarations.Procedure.__new__(declarations.Procedure)
    made.export_name = name
    made.__name__, made.__doc__ = name, getattr(function, "__doc__", None)

    def run(self, *args):
        return function(*args)

    run.__name__, run.__doc__ = name, made.__doc__
    made.function = run
    made.parameters = [
        declarations.Parameter(
            names[i], declarations.Static(spec) if i in static else declarations.like(spec)
        )
        for i, spec in enumerate(specs)
    ]
    return made


def _parameter_names(function, count):
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return [f"arg{i}" for i in range(count)]
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    variadic = any(p.kind == p.VAR_POSITIONAL for p in parameters)
    required = sum(
        p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        for p in parameters
    )
    if count < required or (count > len(names) and not variadic):
        raise TypeError(
            f"{getattr(function, '__name__', 'the function')} takes "
            f"{required if count < required else len(names)} arguments: {count} types are given"
        )
    return [*names[:count], *(f"arg{i}" for i in range(len(names), count))]


def _imported(exported, name):
    made = declarations.Procedure.__new__(declarations.Procedure)
    made.export_name = made.__name__ = name
    made.__doc__ = None
    made.function = lambda self, *args: None
    made.function.__name__ = name
    made.exported = exported
    args, kwargs = exported.in_tree.unflatten(
        [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in exported.in_avals]
    )
    named = [(f"arg{i}", tree) for i, tree in enumerate(args)] + list(kwargs.items())
    made.parameters = [declarations.Parameter(key, tree) for key, tree in named]
    return made


class CompiledFunction:
    """A function that runs compiled code. What users have is also a `Caller` of `alula_calls`,
    whose calls these are."""

    def __init__(self, cls, options):
        self._program = cls(**options)
        self._info = api.get_info(self._program)
        self._is_short = False
        (self.__name__,) = self._info.traced
        self._call = getattr(self._program, self.__name__)
        self.__doc__ = self._call.__doc__
        self.__signature__ = self._call.__signature__

    if typing.TYPE_CHECKING:

        def __call__(self, *args, **kwargs): ...

    def _call_slowly(self, args, kwargs):
        made = self._info.call(self.__name__, args, kwargs or {})
        if not self._is_short:
            self._is_short = True
            self._shorten()
        return made

    def _shorten(self):
        """Arrays of just the types that are wanted, and trees of them, need no step of Python from
        now on."""
        traced = self._info.traced[self.__name__]
        if not traced.has_plain_results or self._info.returns != "jax":
            return
        arguments = trees.of_treedef(traced.argument_treedef)
        result = trees.of_treedef(traced.result_treedef)
        # Where arguments are static there is no tree of them.
        if not arguments or "tuple" not in arguments or result is None:
            return
        made = traced.function.make_trees(
            None if traced.is_flat else arguments, result, strict=True
        )
        if made is not None and made.builds_results:
            special, count, is_brief = None, None, None
            if traced.is_dynamic:
                special, is_brief = (
                    {},
                    functools.lru_cache(4096)(functools.partial(duration.is_brief, traced.steps)),
                )
            if traced.specializer is not None:
                special, count = traced.specializer.specials, traced.specializer.count_sizes
            self._prepare(
                traced.function.entry, self._info.state.address,
                tuple(t.raw_aval for t in traced.result_types), types.find_home, made,
                types.make_aval, special, is_brief, count,
            )  # fmt: skip

    def call_async(self, *args, **kwargs):
        """A future of the call, which can be awaited too."""
        return self._call.call_async(*args, **kwargs)

    @property
    def specialized(self):
        """Shapes of the arguments that there is code of their own for."""
        (traced,) = self._info.traced.values()
        return traced.specializer.copies if traced.specializer else []

    @property
    def module(self):
        return api.get_mlir_module(self._program)

    @property
    def artifact(self):
        return api.get_compiled_artifact(self._program)

    def save(self, path):
        return self.artifact.save(path)

    def _repr_html_(self):
        (traced,) = api.get_info(self._program).traced.values()
        given = [(w.path, w.shown) for w in traced.wanted]
        made = [(path, str(t)) for path, t in zip(traced.result_paths, traced.result_types)]
        return html.show_function(self.__name__, self.__signature__, self.__doc__, given, made)

    def __repr__(self):
        return f"<compiled function {self.__name__}>"


@functools.cache
def _compiled_type():
    base = library.calls().Caller
    return type("CompiledFunction", (CompiledFunction, base), {"__module__": __name__})


__all__ = ["compile", "export", "export_functions", "from_exported", "register_custom_call"]
