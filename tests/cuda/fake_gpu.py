"""CUDA's driver for machines without a GPU: kernels are interpreted (runtime/device/cuda)."""

import ctypes
import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")
LIBRARY = BUILD / "tests/fake/libcuda.so.1"

needs_plugin = pytest.mark.skipif(
    not (BUILD / "lib/pjrt_plugin_alula.so").exists(), reason="the plugin is not built"
)
needs_build = pytest.mark.skipif(
    not ((BUILD / "lib/libalula_compiler.so").exists() and LIBRARY.exists()),
    reason="the compiler or the driver for tests is not built",
)


def environment(chip: str = "80") -> dict[str, str]:
    """What a process needs whose device is the fake one."""
    paths = [str(LIBRARY.parent), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    return {
        "ALULA_DEVICE": "cuda",
        "LD_LIBRARY_PATH": ":".join(paths),
        "FAKE_CUDA_CHIP": chip,
    }


def environment_of_jax() -> dict[str, str]:
    """The same for JAX on the platform `alula_cuda`, whose name says the device."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "ALULA_"))}
    fake = environment()
    del fake["ALULA_DEVICE"]
    plugin = str(BUILD / "lib/pjrt_plugin_alula.so")
    return inherited | fake | {"PYTHONPATH": str(ROOT / "python"), "ALULA_PJRT_PLUGIN": plugin}


def load() -> None:
    """Who looks for libcuda.so.1 in this process finds the one that is there, of a device
    that runs all code we make."""
    os.environ.setdefault("FAKE_CUDA_CHIP", "90")
    ctypes.CDLL(str(LIBRARY))
