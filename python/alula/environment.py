"""What a report of a problem says: platform, versions, which files are used."""

import ctypes
import importlib.metadata
import os
import pathlib
import platform
import re
import sys

import alula
from alula.bindings import library


def get_environment_info():
    """Name -> text."""
    info = {
        "alula": alula.__version__,
        "LLVM": _llvm(),
        "runtime": _library("libalula_runtime.so", "ALULA_RUNTIME_LIBRARY"),
        "compiler": _library("libalula_compiler.so", "ALULA_COMPILER_LIBRARY"),
        "plugin": _plugin(),
        "python": f"{platform.python_version()} at {sys.executable}",
    }
    for package in ("jax", "jaxlib", "numpy", "ml_dtypes"):
        info[package] = _version(package)
    info["platform"] = platform.platform()
    info["processor"] = f"{_processor()}, {platform.machine()}"
    info["CPUs"] = f"{len(os.sched_getaffinity(0))} of {os.cpu_count()}"
    for name in sorted(os.environ):
        if name.startswith("ALULA_") or name in ("JAX_PLATFORMS", "JAX_ENABLE_X64"):
            info[name] = os.environ[name]
    return info


def print_environment_info(return_string=False):
    """Prints platform, processor, versions and files, or returns the text: what
    a report of a problem should have with it."""
    info = get_environment_info()
    width = max(map(len, info))
    text = "\n".join(f"{name:{width}} {value}" for name, value in info.items())
    if return_string:
        return text
    print(text)


def _version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _library(name, variable):
    try:
        return str(library.find(name, variable))
    except ImportError:
        return "missing: pip install alula, or ./dev build in a source tree"


def _llvm():
    try:
        get_version = library.compiler().alula_compiler_get_version
    except (ImportError, OSError, AttributeError):
        return "unknown: there is no compiler"
    get_version.restype = ctypes.c_char_p
    return get_version().decode().partition("LLVM ")[2]


def _plugin():
    try:
        import jax_plugins.alula
    except ImportError:
        return "not installed"
    path = jax_plugins.alula.library_path()
    return str(path) if path.exists() else f"{path} (missing: run ./dev build)"


def _processor():
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    found = re.search(r"^model name\s*:\s*(.*)", text, re.MULTILINE)
    return found[1] if found else platform.processor() or "unknown"
