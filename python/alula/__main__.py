"""`python -m alula` tells versions and paths."""

import importlib.metadata
import platform
import sys

import alula
from alula.bindings import library


def _version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _library(name, variable):
    try:
        return str(library.find(name, variable))
    except ImportError:
        return "missing: run ./dev build"


def _plugin():
    try:
        import jax_plugins.alula
    except ImportError:
        return "not installed"
    path = jax_plugins.alula.library_path()
    return str(path) if path.exists() else f"{path} (missing: run ./dev build)"


def main() -> int:
    """The exit status: 0 if programs can run."""
    runtime = _library("libalula_runtime.so", "ALULA_RUNTIME_LIBRARY")
    rows = {
        "alula": alula.__version__,
        "runtime": runtime,
        "compiler": _library("libalula_compiler.so", "ALULA_COMPILER_LIBRARY"),
        "plugin": _plugin(),
        "python": f"{platform.python_version()} at {sys.executable}",
        "jax": _version("jax"),
        "jaxlib": _version("jaxlib"),
        "numpy": _version("numpy"),
        "machine": f"{platform.system()} {platform.machine()}",
    }
    for name, value in rows.items():
        print(f"{name:8} {value}")
    print("use      JAX_PLATFORMS=alula,cpu python model.py")
    return 1 if runtime.startswith("missing") else 0


if __name__ == "__main__":
    sys.exit(main())
