"""Kernels of others for the softmax of a transformer, on the driver that interprets PTX:
taken, declined, killed, wrong. A provider by hand; with Triton where Python has it."""

import importlib.util
import itertools
import json
import os
import pathlib
import subprocess
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import fake_gpu
import pytest

sys.path[:0] = [str(fake_gpu.ROOT / "tests/native"), str(fake_gpu.ROOT / "tests/jax")]

import alula_library
import jax
import numpy as np
from jax import numpy as jnp

pytestmark = fake_gpu.needs_build

HERE = pathlib.Path(__file__).resolve().parent
BIN = fake_gpu.BUILD / "bin"
TARGET = "cuda:sm_80"
LENGTH, WIDTH = 24, 32
# Of each layer: no two kernels are the same.
HEADS = (4, 2)
LAYERS = len(HEADS)


def transformer(x, weights):
    for heads, (qkv, out, up, down) in zip(HEADS, weights, strict=True):
        q, k, v = (
            part.reshape(LENGTH, heads, -1).transpose(1, 0, 2) for part in jnp.split(x @ qkv, 3, -1)
        )
        scores = jax.nn.softmax(q @ k.transpose(0, 2, 1) / (WIDTH // heads) ** 0.5, axis=-1)
        x = x + (scores @ v).transpose(1, 0, 2).reshape(LENGTH, WIDTH) @ out
        x = x + jax.nn.gelu(x @ up) @ down
    return x


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A file with a transformer, its arguments, XLA:CPU's result."""
    generator = np.random.default_rng(0)

    def draw(*shape):
        return (generator.normal(size=shape) / shape[0] ** 0.5).astype(np.float32)

    shapes = [(WIDTH, 3 * WIDTH), (WIDTH, WIDTH), (WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH)]
    weights = [[draw(*shape) for shape in shapes] for _ in range(LAYERS)]
    x = draw(LENGTH, WIDTH)
    path = tmp_path_factory.mktemp("transformer") / "transformer.mlir"
    path.write_text(jax.jit(transformer).lower(x, weights).as_text())
    expected = np.asarray(jax.jit(transformer)(x, weights))
    return path, [x, *itertools.chain(*weights)], expected


def compile(program, folder, *flags, gpu=True):
    environment = os.environ | (fake_gpu.environment() if gpu else {})
    environment |= {"TMPDIR": str(folder)}
    environment.pop("ALULA_DEVICE", None)
    done = subprocess.run(
        [BIN / "alula-compile", program, f"--target={TARGET}", "-o", folder / "out.alula", *flags],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def offer(mode, *words):
    return "--preprocess-executables-with=offer:softmax:" + " ".join(
        map(str, [sys.executable, HERE / "softmax_provider.py", mode, *words])
    )


def origins(folder):
    """Where each kernel comes from, as alula-inspect says."""
    said = subprocess.run(
        [BIN / "alula-inspect", folder / "out.alula", "--json"], check=True, capture_output=True
    ).stdout
    [variant] = json.loads(said)["variants"]
    return variant["origins"]


def others(folder):
    return {name: text for name, text in origins(folder).items() if text != "generated"}


def check_result(program, folder):
    fake_gpu.load()
    runtime = alula_library.Runtime(fake_gpu.BUILD, device="cuda")
    executable = runtime.load((folder / "out.alula").read_bytes())
    _, arguments, expected = program
    buffers = [runtime.new_buffer(each, "f32") for each in arguments]
    [result] = executable.call(executable.find("main"), buffers)
    np.testing.assert_allclose(result.array(), expected, rtol=2e-4, atol=2e-5)


def test_only_softmax_is_taken(program, tmp_path):
    asked = tmp_path / "asked"
    asked.mkdir()
    said = compile(program[0], tmp_path, offer("good", asked))
    assert said == ""
    names = [f"softmax_{i}" for i in range(LAYERS)]
    assert sorted(each.name for each in asked.iterdir()) == names
    assert sorted(others(tmp_path)) == names
    for text in others(tmp_path).values():
        assert text.startswith("ptx softmax.ptx sha256:")
        assert text.endswith('"by hand" kernel softmax block 32,1,1')
    assert len(origins(tmp_path)) > LAYERS
    check_result(program, tmp_path)


def test_declined(program, tmp_path):
    assert compile(program[0], tmp_path, offer("decline")) == ""
    assert others(tmp_path) == {}
    check_result(program, tmp_path)


FAILURES = {
    "killed": ("pre-signal", "signal 9"),
    "late": ("pre-timeout", "its limit is 1.00 s"),
    "fail": ("pre-exit", "no kernel today"),
    "garbage": ("pre-parse", "it seems to print its log where the program belongs"),
    "wrong": ("pre-run", "must compute what ours does: result 0 on random numbers: "),
    "outside": ("pre-run", "must compute what ours does: it can't be run: "),
    "parameters": ("pre-run", "kernel 'softmax' must take 2 pointers and 0 numbers: takes 3"),
    "truncated": ("pre-run", "is truncated: a bracket is not closed at its end"),
    "unknown": ("pre-run", "it can't be "),
}


@pytest.mark.parametrize("mode", FAILURES)
def test_what_fails_is_ours(program, tmp_path, mode):
    tag, text = FAILURES[mode]
    limit = ["--preprocess-timeout=1"] if mode == "late" else []
    said = compile(program[0], tmp_path, offer(mode), *limit)
    for i in range(LAYERS):
        assert f"warning: [{tag}] @softmax_{i}, step 1, '{sys.executable}': " in said
    assert text in said
    assert said.count("; the kernel is ours") == LAYERS
    assert others(tmp_path) == {}
    check_result(program, tmp_path)


def test_the_next_is_asked(program, tmp_path):
    """An offer that fails is no answer, one that is taken is the last."""
    asked = tmp_path / "asked"
    asked.mkdir()
    said = compile(program[0], tmp_path, offer("wrong"), offer("good"), offer("good", asked))
    assert said.count("step 1") == LAYERS and said.count("warning: ") == LAYERS
    assert len(others(tmp_path)) == LAYERS and not list(asked.iterdir())


def test_without_a_gpu(program, tmp_path):
    """It is taken, and who compiles is told that it has not run."""
    said = compile(program[0], tmp_path, offer("good"), gpu=False)
    assert said.count("is used and has not run here: ") == LAYERS
    assert len(others(tmp_path)) == LAYERS


def test_triton(program, tmp_path):
    if not importlib.util.find_spec("triton") and "ALULA_TRITON_PYTHON" not in os.environ:
        pytest.skip("no Triton here, nor ALULA_TRITON_PYTHON, a Python that has it")
    python = os.environ.get("ALULA_TRITON_PYTHON", sys.executable)
    tool = fake_gpu.ROOT / "examples/byo/triton/softmax.py"
    said = compile(
        program[0], tmp_path, f"--preprocess-executables-with=offer:softmax:{python} {tool}"
    )
    assert said == ""
    assert len(others(tmp_path)) == LAYERS
    for text in others(tmp_path).values():
        assert '"triton ' in text
    check_result(program, tmp_path)
