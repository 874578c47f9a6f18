"""Whole programs as kernels of a GPU, on a driver that interprets them: the demo's
model, programs of JAX's harnesses, programs that nobody has thought of."""

import os
import pathlib
import subprocess
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import fake_gpu
import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = fake_gpu.ROOT
sys.path[:0] = [str(HERE.parent / "jax"), str(HERE.parent / "native")]

import jax
import numpy as np
from jax import numpy as jnp

import alula_library
import harness_corpus
import jax_functions
import judge
import random_programs
import run_native
import tally
import test_smoke

pytestmark = fake_gpu.needs_build

TARGET = "cuda:sm_80"
FIRST = int(os.environ.get("ALULA_RANDOM_FIRST", "0"))
COUNT = int(os.environ.get("ALULA_RANDOM_COUNT", "30"))
# The first of the others whose threads once waited at different copies of a barrier.
NESTED_LOOPS = 97


@pytest.fixture(scope="module")
def tools():
    fake_gpu.load()
    return alula_library.Compiler(fake_gpu.BUILD), alula_library.Runtime(
        fake_gpu.BUILD, device="cuda"
    )


# ---- JAX's programs ----


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    """The programs of the smoke test with XLA:CPU's results, after they have run."""
    subprocess.run([sys.executable, test_smoke.__file__], check=True)
    found = [e for e in harness_corpus.read_index(test_smoke.CORPUS) if e["status"] == "ok"]
    work = tmp_path_factory.mktemp("cuda")
    run_native.compile_and_run(
        found,
        test_smoke.CORPUS,
        fake_gpu.BUILD,
        work,
        [TARGET],
        timeout=300,
        environment=fake_gpu.environment(),
    )
    run_native.judge_all(found, judge.Judge(test_smoke.CORPUS), work, None)
    return {entry["name"]: entry for entry in found}


@pytest.mark.parametrize("name", test_smoke.NAMES + test_smoke.PROGRAMS)
def test_jax_program(entries, name):
    assert tally.passed(entries[name]), (tally.why(entries[name]), entries[name].get("detail"))


# ---- Random programs ----


def is_same(results, others):
    return all(np.array_equal(a, np.asarray(b)) for a, b in zip(results, others, strict=True))


@pytest.mark.parametrize("seed", sorted({*range(FIRST, FIRST + COUNT), NESTED_LOOPS}))
def test_random_program(tools, seed):
    maker = random_programs.Maker(seed)
    arguments = maker.arguments()
    got = jax_functions.run(tools, maker, arguments, TARGET)
    if not is_same(got, jax.jit(maker)(*arguments)):
        assert is_same(got, maker(*map(jnp.asarray, arguments)))


# ---- The demo's model ----


def test_demo(tools, tmp_path):
    """A model that JAX has trained: the same digits as on the CPU."""
    script = ROOT / "examples/digits/train.py"
    subprocess.run([sys.executable, script, tmp_path], check=True)
    program = (tmp_path / "model.mlir").read_bytes()
    images = np.fromfile(tmp_path / "images.f32", np.float32).reshape(-1, 32, 64)
    labels = np.fromfile(tmp_path / "labels.i32", np.int32).reshape(-1, 32)
    correct = 0
    compiler, runtime = tools
    cpu = alula_library.Runtime(fake_gpu.BUILD, device="cpu")
    # One file for both machines.
    artifact = compiler.compile(program, ["cpu:host", TARGET])
    answers = []
    for machine in (runtime, cpu):
        executable = machine.load(artifact)
        found = []
        for batch in images:
            argument = machine.new_buffer(batch, "f32")
            results = executable.call(executable.find("main"), [argument])
            found.append([result.array() for result in results])
            for buffer in (argument, *results):
                buffer.release()
        executable.destroy()
        answers.append(found)
    for (probabilities, best), (others, theirs), truth in zip(*answers, labels, strict=True):
        np.testing.assert_allclose(probabilities, others, rtol=2e-5, atol=1e-7)
        np.testing.assert_allclose(best, theirs, rtol=2e-5)
        correct += int((probabilities.argmax(axis=1) == truth).sum())
    assert correct >= 0.95 * labels.size
