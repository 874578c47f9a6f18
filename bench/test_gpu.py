"""`./dev gpu` without a GPU: kernels are interpreted, so the command works; that is all."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")


def run(*flags):
    return subprocess.run(
        [sys.executable, ROOT / "bench/gpu.py", *flags], capture_output=True, text=True, check=False
    )


@pytest.mark.skipif(
    not (BUILD / "tests/fake/libcuda.so.1").exists(), reason="the driver for tests is not built"
)
def test_rows_on_the_fake(tmp_path):
    out = tmp_path / "gpu.json"
    flags = ["--fake", "--small", "--parts=jax,rows", "--rows=copy,softmax", f"--out={out}"]
    done = run(*flags)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(out.read_text())
    assert found["small"] and found["machine"]["gpu"] == "none: kernels are interpreted"
    assert found["jax"]["said"] == "alula_cuda 2 devices"
    softmax = found["rows"]["softmax"]["alula"]
    assert softmax["platform"] == "alula_cuda" and softmax["seconds"] > 0
    assert softmax["to_copy"] > 0
    assert "unable" in found["rows"]["softmax"]["xla_gpu"]


def test_what_there_is_not():
    done = run("--parts=speed")
    assert "no part is called 'speed': jax, tests, rows, harnesses" in done.stderr
    done = run("--rows=sort")
    assert "no row is called 'sort': copy, product_bf16" in done.stderr
