"""Alula: compiles JAX programs ahead of time into one file.

`Program` turns a class into a stateful program with entry points, `compile`
and `export` a function; `load` runs a file of either, without JAX. Nothing is
imported before it is used: this module loads neither JAX nor NumPy."""

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
    "load_torch_xla": "alula.torch_xla",
    "TorchXlaProgram": "alula.torch_xla",
    "register_custom_call": "alula.functions",
    "print_environment_info": "alula.environment",
    "get_environment_info": "alula.environment",
    "AlulaError": "alula.errors",
    "CompileError": "alula.errors",
    "TracedValueError": "alula.errors",
    "TracerLeakError": "alula.errors",
    "__version__": "alula.version",
}

__all__ = [
    "Program",
    "like",
    "kernel",
    "store_global",
    "load",
    "load_torch_xla",
    "compile",
    "export",
    "print_environment_info",
]


def __getattr__(name):
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'alula' has no attribute {name!r}")
    import importlib

    try:
        module = importlib.import_module(home)
    except ModuleNotFoundError as error:
        if error.name != home:
            raise
        raise ImportError(
            f"alula.{name} needs the compiler: pip install alula "
            "(alula-runtime, which is installed, loads and runs compiled files)",
            name=home,
        ) from None
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__():
    return sorted([*globals(), *_HOMES])
