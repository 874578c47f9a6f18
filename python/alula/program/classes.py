"""`Program` and its metaclass: what a class body says, and what attributes of a
class or an instance are."""

import difflib
import functools
import inspect

import jax

from alula import html
from alula.program import api, declarations, naming, specialize, trace, types
from alula.program import options as option_names
from alula.program.info import ClassInfo, InstanceInfo

_INFO = "__alula_class_info__"
_INSTANCE = "__alula_info__"
_PjitFunction = type(jax.jit(lambda: None))


def class_info(cls):
    found = cls.__dict__.get(_INFO) if isinstance(cls, type) else None
    if found is None:
        raise KeyError(f"{cls!r} is not a program class")
    return found


def instance_info(instance):
    found = getattr(instance, "__dict__", {}).get(_INSTANCE)
    if found is None:
        raise KeyError(f"{instance!r} is not a program")
    return found


class ProgramMeta(type):
    def __new__(mcs, name, bases, body, *, export_name=None):
        if not any(isinstance(base, ProgramMeta) for base in bases):
            return super().__new__(mcs, name, bases, body)
        info = ClassInfo(export_name or naming.program_name(name))
        kept, own = {}, {}
        for key, value in body.items():
            if key.startswith("__") and key.endswith("__"):
                kept[key] = value
            else:
                own[key] = read(key, value)
        cls = super().__new__(mcs, name, bases, kept)
        # Bases first, the one that Python would look at last before all.
        for base in reversed(cls.__mro__[1:]):
            if isinstance(base, ProgramMeta) and _INFO in base.__dict__:
                known = class_info(base)
                info.exports.update(known.exports)
                info.constants.update(known.constants)
        for key, value in own.items():
            info.exports.pop(key, None) if key not in _order(info, own) else None
            info.constants.pop(key, None)
            if isinstance(value, declarations.Constant):
                info.exports.pop(key, None)
                info.constants[key] = value.value
            else:
                info.exports[key] = value
        type.__setattr__(cls, _INFO, info)
        return cls

    def __init__(cls, name, bases, body, **_):
        super().__init__(name, bases, body)

    def __getattr__(cls, name):
        info = cls.__dict__.get(_INFO)
        if info is None:
            if name in api.MEMBERS:
                return api.MEMBERS[name]
        elif name in info.exports:
            return info.exports[name]
        elif name in info.constants:
            return info.constants[name]
        raise AttributeError(f"Attribute {name} not defined")

    def __dir__(cls):
        info = cls.__dict__.get(_INFO)
        names = api.MEMBERS if info is None else info.exports
        return sorted({*super().__dir__(), *names})

    def __setattr__(cls, name, value):
        if _INFO in cls.__dict__ and not (name.startswith("__") and name.endswith("__")):
            raise AttributeError(f"exports of a program class cannot be changed: {name}")
        super().__setattr__(name, value)


def _order(info, own):
    """An attribute that a derived class defines again keeps its place."""
    return info.exports


def read(name, value):
    """What an attribute of a class body declares."""
    if isinstance(value, declarations.Declaration):
        return value.named(name)
    if isinstance(value, declarations.Constant):
        return value
    if inspect.isfunction(value):
        return declarations.Procedure(value, export_name=name)
    if isinstance(value, _PjitFunction):
        return declarations.Kernel(value.__wrapped__, export_name=name, jitted=value)
    if _is_tree_of_values(value):
        made = declarations.Global(value, initialize=True, mutable=True, sugar=True)
        return made.named(name)
    raise TypeError(f"cannot set arbitrary Python value '{name}' on program: {value!r}")


def _is_tree_of_values(value):
    if isinstance(value, type) or value is None:
        return False
    leaves = jax.tree.leaves(value)
    return bool(leaves) and all(types.is_value(leaf) for leaf in leaves)


class Program(metaclass=ProgramMeta):
    """Base of programs: see docs/program. Its members (`like`, `kernel`, …) are
    only to be had from `Program` itself."""

    def __new__(
        cls, *args, context=None, import_only=False, compile=None, returns="jax",
        specialize_after=specialize.AFTER, **options,
    ):  # fmt: skip
        if cls is Program:
            raise TypeError("Program is to be subclassed")
        if args:
            raise TypeError(f"{cls.__name__}() takes no positional arguments: got {len(args)}")
        if compile not in (None, "eager", "lazy"):
            raise TypeError(f"compile must be 'eager' or 'lazy', not {compile!r}")
        if returns not in ("jax", "numpy"):
            raise TypeError(f"returns must be 'jax' or 'numpy', not {returns!r}")
        if not isinstance(specialize_after, int) or specialize_after < 0:
            raise TypeError(f"specialize_after must be a number of calls: {specialize_after!r}")
        named = ("context", "import_only", "compile", "returns", "specialize_after")
        option_names.check(cls.__name__, options, option_names.COMPILE, named)
        self = super().__new__(cls)
        info = InstanceInfo(class_info(cls), options, returns, specialize_after)
        self.__dict__[_INSTANCE] = info
        info.trace_all(self)
        if compile == "eager" and not import_only:
            info.state
        return self

    def __init__(self, **_):
        pass

    def __getattr__(self, name):
        info = self.__dict__.get(_INSTANCE)
        if info is None or (name.startswith("__") and name.endswith("__")):
            raise AttributeError(f"Attribute {name} not defined")
        scope = trace.current_scope(self)
        attribute = info.table.attributes.get(name)
        if attribute is not None:
            if scope is not None:
                return scope.read(attribute)
            return attribute.unflatten(info.read)
        declaration = info.class_info.exports.get(name)
        if isinstance(declaration, (declarations.Kernel, declarations.Extern)):
            return declaration
        if isinstance(declaration, declarations.Procedure):
            if scope is not None:
                return lambda *args, **kwargs: scope.call(name, declaration, args, kwargs)
            return _bound(self, info, declaration)
        if name in info.class_info.constants:
            return info.class_info.constants[name]
        close = difflib.get_close_matches(name, info.class_info.exports, 1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise AttributeError(f"Attribute {name} not defined{hint}")

    def __setattr__(self, name, value):
        info = self.__dict__[_INSTANCE]
        attribute = info.table.attributes.get(name)
        if attribute is None:
            raise AttributeError(
                f"Can only set globals on a Program. Attempted to set {name} = {value!r}"
            )
        scope = trace.current_scope(self)
        if scope is not None:
            scope.store(attribute, value)
        else:
            api.set_attribute(info, attribute, value)

    def __repr__(self):
        info = self.__dict__[_INSTANCE]
        shown = ", ".join(repr(d) for _, d in info.class_info.export_functions)
        return f"<program {info.name}: {len(info.table.slots)} globals, {shown}>"

    def _repr_html_(self):
        info = self.__dict__[_INSTANCE]
        functions = [
            (
                p.export_name,
                make_signature(p),
                (p.function.__doc__ or "").strip().partition("\n")[0],
            )
            for _, p in info.class_info.export_functions
        ]
        slots = [(s.path, s.type, "" if s.mutable else "constant") for s in info.table.slots]
        return html.show_program(info.name, functions, slots)

    def __dir__(self):
        return sorted({*super().__dir__(), *instance_info(self).class_info.exports})

    def __reduce_ex__(self, protocol):
        raise TypeError(
            f"programs cannot be pickled: save {type(self).__name__} with "
            "Program.get_compiled_artifact(…).save(…) and its state with Program.save_state"
        )

    def __copy__(self):
        return api.clone(self)

    def __deepcopy__(self, memo):
        return api.clone(self)


def make_signature(procedure):
    """As it is called; static parameters have their value."""
    return inspect.Signature(
        [
            inspect.Parameter(
                parameter.name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD
                if parameter.is_static or not any(p.is_static for p in procedure.parameters[:i])
                else inspect.Parameter.KEYWORD_ONLY,
                default=parameter.tree.value if parameter.is_static else inspect.Parameter.empty,
            )
            for i, parameter in enumerate(procedure.parameters)
        ]
    )


def _bound(instance, info, procedure):
    def call(*args, **kwargs):
        return info.call(procedure.export_name, args, kwargs)

    functools.update_wrapper(call, procedure.function)
    del call.__wrapped__
    call.__self__ = instance
    call.__signature__ = make_signature(procedure)
    call.call_async = lambda *args, **kwargs: api.call_async(info, procedure, args, kwargs)
    return call
