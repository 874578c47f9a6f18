"""Tells JAX where Alula's PJRT plugin is, and how programs for it look.

JAX finds this package by itself and calls `initialize`."""

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
    if (here / name).exists():
        return here / name
    return here.parents[2] / "build" / "lib" / name


def initialize() -> None:
    """Called by JAX before it looks for backends."""
    import jax
    import jax._src.xla_bridge as xla_bridge

    path = library_path()
    if not path.exists():
        # Whoever asks for the platform gets JAX's own error.
        return
    from jax_plugins.alula import (
        callbacks,
        dlpack,
        ffi,
        lowering,
        persistent_cache,
        platforms,
        sparse,
    )

    options = {
        "python_callback": callbacks.address(),
        "python_callback_token": callbacks.TOKEN,
    }
    asked = (jax.config.jax_platforms or "").split(",")
    for name, device in platforms.DEVICES.items():
        # A platform that can't start where nobody has asked for it stops JAX, and
        # one that can takes the GPUs of whoever wants others.
        if device and name not in asked:
            continue
        # JAX warns about platforms that it does not know.
        getattr(xla_bridge, "_nonexperimental_plugins", set()).add(name)
        xla_bridge.register_plugin(
            name,
            priority=PRIORITY,
            library_path=str(path),
            options=options | ({"device": device} if device else {}),
        )
        lowering.register(name)
        if not device:
            sparse.register(name)
        callbacks.register(name)
    ffi.register(path)
    dlpack.register()
    persistent_cache.register()
