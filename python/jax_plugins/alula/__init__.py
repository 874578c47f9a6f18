"""Tells JAX where Alula's PJRT plugin is. JAX finds this package by itself."""

import os
import pathlib

# Below JAX's own CPU backend: who wants Alula asks for it, with
# JAX_PLATFORMS=alula,cpu.
PRIORITY = -100


def library_path() -> pathlib.Path:
    """The plugin: ALULA_PJRT_PLUGIN, beside this file, or of a build."""
    named = os.environ.get("ALULA_PJRT_PLUGIN")
    if named:
        return pathlib.Path(named)
    name = "pjrt_plugin_alula.so"
    here = pathlib.Path(__file__).resolve().parent
    build = here.parents[2] / "build" / "lib" / name
    return build if build.exists() else here / name


def initialize() -> None:
    """Called by JAX before it looks for backends."""
    import jax._src.xla_bridge as xla_bridge

    path = library_path()
    if not path.exists():
        return
    xla_bridge.register_plugin(
        "alula", priority=PRIORITY, library_path=str(path), options={}
    )
