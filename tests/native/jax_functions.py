"""Compiles a JAX function and runs it on Alula, in this process."""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "jax")]

import jax
import ml_dtypes
import numpy as np
import pytest

import alula_library

BUILD = HERE.parent.parent / os.environ.get("ALULA_BUILD", "build")
TARGETS = ["cpu:host", "cpu:x86-64-v2", "cpu:x86-64-v3"]

needs_build = pytest.mark.skipif(
    not (BUILD / "lib/libalula_compiler.so").exists(), reason="the compiler is not built"
)


@pytest.fixture(scope="module")
def tools():
    return alula_library.Compiler(BUILD), alula_library.Runtime(BUILD, thread_count=2)


def run(tools, function, arrays, target):
    text = jax.jit(function, keep_unused=True).lower(*arrays).as_text()
    return run_text(tools, text, arrays, target)


def run_text(tools, text, arrays, target):
    return run_program(tools, text.encode(), arrays, target)


def run_program(tools, program, arrays, target):
    """A text or a portable artifact, as bytes."""
    compiler, runtime = tools
    executable = runtime.load(compiler.compile(program, [target]))
    arguments = [runtime.new_buffer(a, kind_of(a)) for a in arrays]
    results = executable.call(executable.find("main"), arguments)
    got = [r.array() for r in results]
    for buffer in (*arguments, *results):
        buffer.release()
    executable.destroy()
    return got


def kind_of(array):
    return {
        np.dtype(np.bool_): "i1",
        np.dtype(np.float32): "f32",
        np.dtype(np.float64): "f64",
        np.dtype(np.float16): "f16",
        np.dtype(ml_dtypes.bfloat16): "bf16",
        np.dtype(ml_dtypes.float8_e4m3fn): "f8E4M3FN",
        np.dtype(ml_dtypes.float8_e5m2): "f8E5M2",
        np.dtype(np.int8): "i8",
        np.dtype(np.uint8): "ui8",
        np.dtype(np.int16): "i16",
        np.dtype(np.uint16): "ui16",
        np.dtype(np.int32): "i32",
        np.dtype(np.uint32): "ui32",
        np.dtype(np.int64): "i64",
        np.dtype(np.uint64): "ui64",
        np.dtype(np.complex64): "complex<f32>",
        np.dtype(np.complex128): "complex<f64>",
    }[array.dtype]
