"""`python -m alula` tells versions and paths."""

import importlib.metadata
import platform
import sys

import alula
import jax_plugins.alula


def _version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def main() -> int:
    plugin = jax_plugins.alula.library_path()
    rows = {
        "alula": alula.__version__,
        "plugin": f"{plugin}{'' if plugin.exists() else ' (missing: run ./dev build)'}",
        "python": f"{platform.python_version()} at {sys.executable}",
        "jax": _version("jax"),
        "jaxlib": _version("jaxlib"),
        "numpy": _version("numpy"),
        "machine": f"{platform.system()} {platform.machine()}",
    }
    for name, value in rows.items():
        print(f"{name:8} {value}")
    print("use      JAX_PLATFORMS=alula,cpu python model.py")
    return 0 if plugin.exists() else 1


if __name__ == "__main__":
    sys.exit(main())
