"""The version: that of the source tree, or of the installed package. CMakeLists.txt
is where it is written."""

import importlib.metadata
import pathlib
import re


def _read():
    tree = pathlib.Path(__file__).resolve().parents[2] / "CMakeLists.txt"
    if tree.exists():
        found = re.search(r"project\(Alula VERSION ([0-9.]+)", tree.read_text())
        if found:
            return found[1]
    try:
        return importlib.metadata.version("alula-runtime")
    except importlib.metadata.PackageNotFoundError:
        # Somebody copied the folder.
        return "unknown"


__version__ = _read()
