"""Alula: compiles JAX programs ahead of time into one file.

`Program` turns a class into a stateful program with entry points, `compile`
and `export` a function; `load` runs a file of either, without JAX. Nothing is
imported before it is used: this module loads neither JAX nor NumPy."""

__version__ = "0.1.0"

# Name -> the module that has it.
_HOMES = {
    "Program": "alula.program",
    "like": "alula.program",
    "kernel": "alula.program",
    "store_global": "alula.program",
    "Artifact": "alula.artifact",
    "load": "alula.loaded",
    "LoadedProgram": "alula.loaded",
    "compile": "alula.functions",
    "export": "alula.functions",
    "export_functions": "alula.functions",
    "from_exported": "alula.functions",
    "register_custom_call": "alula.functions",
    "print_environment_info": "alula.environment",
    "get_environment_info": "alula.environment",
    "AlulaError": "alula.errors",
    "CompileError": "alula.errors",
    "TracedValueError": "alula.errors",
    "TracerLeakError": "alula.errors",
}

__all__ = [
    "Program",
    "like",
    "kernel",
    "store_global",
    "load",
    "compile",
    "export",
    "print_environment_info",
]


def __getattr__(name):
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'alula' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted([*globals(), *_HOMES])
