"""Functions of JAX on the driver that interprets kernels, to what the same is in f64; their PTX."""

import ctypes
import os
import pathlib
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import fake_gpu
import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "jax"), str(HERE.parent / "native")]

import jax
import ml_dtypes
import numpy as np
from jax import numpy as jnp
from support import cuda_image
from support.tool_runs import check_success, run_tool

import alula_library
import jax_functions

TARGET = "cuda:sm_80"
TYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}


@pytest.fixture(scope="module")
def tools():
    fake_gpu.load()
    # Others have changed it, perhaps.
    ctypes.CDLL(str(fake_gpu.LIBRARY)).fakeCudaConfigure(90, 2, 12040)
    return alula_library.Compiler(fake_gpu.BUILD), alula_library.Runtime(
        fake_gpu.BUILD, device="cuda"
    )


def draw(kind, *shape):
    numbers = np.random.default_rng(len(shape) + sum(shape))
    return numbers.normal(size=shape).astype(TYPES[kind])


def run(tools, function, *arrays, target=TARGET):
    return [np.asarray(result) for result in jax_functions.run(tools, function, arrays, target)]


def check(tools, function, *arrays, target=TARGET):
    """The one result is what it is in f64, but for rounding."""
    with jax.enable_x64(True):
        want = np.asarray(function(*[jnp.asarray(np.asarray(a, np.float64)) for a in arrays]))
    [got] = run(tools, function, *arrays, target=target)
    epsilon = float(ml_dtypes.finfo(got.dtype).eps)
    limit = 4 * max(epsilon, 2**-20) * np.abs(want).max()
    np.testing.assert_allclose(np.asarray(got, np.float64), want, rtol=0, atol=limit)


def read_text(tools, folder, function, *arrays, target=TARGET):
    """All PTX of a function."""
    return read_program(tools, folder, jax.jit(function).lower(*arrays).as_text(), target)


def read_program(tools, folder, program, target=TARGET):
    """All PTX of a program's text."""
    artifact = folder / "program.alula"
    artifact.write_bytes(tools[0].compile(program.encode(), [target]))
    image = check_success(run_tool("alula-inspect", artifact, f"--extract={target}"))
    return "".join(code.text for [code] in cuda_image.read(image).modules)
