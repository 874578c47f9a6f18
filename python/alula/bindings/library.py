"""Finds and opens the shared libraries."""

import ctypes
import functools
import importlib.machinery
import importlib.util
import os
import pathlib

_PACKAGES = dict.fromkeys(["libalula_runtime.so", "alula_calls.abi3.so"], "alula-runtime")


def find(name, variable):
    """The library `name`: where an environment variable says, beside this
    package, or in a build of this source tree."""
    named = os.environ.get(variable)
    if named:
        return pathlib.Path(named)
    package = pathlib.Path(__file__).resolve().parents[1]
    tried = [package / name, package / "lib" / name, package.parents[1] / "build" / "lib" / name]
    for path in tried:
        if path.exists():
            return path
    raise ImportError(
        f"{name} is missing: set {variable}, or build it (./dev build), or install "
        f"the package that has it ({_PACKAGES.get(name, 'alula')}); "
        f"looked at {', '.join(str(path) for path in tried)}"
    )


@functools.cache
def runtime():
    return ctypes.CDLL(str(find("libalula_runtime.so", "ALULA_RUNTIME_LIBRARY")))


@functools.cache
def compiler():
    return ctypes.CDLL(str(find("libalula_compiler.so", "ALULA_COMPILER_LIBRARY")))


@functools.cache
def calls():
    """The extension of python/calls."""
    path = str(find("alula_calls.abi3.so", "ALULA_CALLS_LIBRARY"))
    loader = importlib.machinery.ExtensionFileLoader("alula_calls", path)
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_file_location("alula_calls", path, loader=loader)
    )
    loader.exec_module(module)
    return module
