"""`./dev gpu` without a GPU: kernels are interpreted, so the command works; that is all."""

import json
import os
import pathlib
import subprocess
import sys
import tarfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")
needs_fake = pytest.mark.skipif(
    not (BUILD / "tests/fake/libcuda.so.1").exists(), reason="the driver for tests is not built"
)


def run(*flags):
    return subprocess.run(
        [sys.executable, ROOT / "bench/gpu.py", *flags], capture_output=True, text=True, check=False
    )


@needs_fake
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


MAKE = """
import pathlib, sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
import gpu_bundle, harness_corpus
folder = pathlib.Path(sys.argv[3])
harness_corpus.generate(folder / "corpus", match="^(cumsum_|argmin_|qr_)", limit=12)
sys.exit(gpu_bundle.make(folder / "bundle.tar.xz", folder / "corpus", sizes=(True,)))
"""


@needs_fake
def test_a_bundle_on_the_fake(tmp_path):
    """What it has runs by itself: Python alone, no site-packages, nothing of this tree."""
    jax = {"JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu"}
    words = [sys.executable, "-c", MAKE, ROOT / "bench", ROOT / "tests/jax", tmp_path]
    made = subprocess.run(words, capture_output=True, text=True, check=False, env=os.environ | jax)
    assert made.returncode == 0, made.stdout + made.stderr
    with tarfile.open(tmp_path / "bundle.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    folder = tmp_path / "alula-gpu"
    bundle = json.loads((folder / "bundle.json").read_text())
    assert len(bundle["programs"]) + len(bundle["left_out"]) == 12
    assert len(bundle["programs"]) >= 10

    def run_bundle():
        return subprocess.run(
            [sys.executable, "-ES", folder / "bench/gpu.py", "--fake", "--small", "--out", out],
            capture_output=True,
            text=True,
            check=False,
            env={"LD_LIBRARY_PATH": str(BUILD / "tests/fake"), "PATH": os.environ["PATH"]},
        )

    out = tmp_path / "gpu.json"
    done = run_bundle()
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(out.read_text())
    assert found["programs"]["right"] == found["programs"]["of"] > 1
    assert found["rows"]["copy"]["alula"]["gb_per_second"] > 0
    assert found["rows"]["product_bf16"]["alula"]["tflops"] > 0
    assert found["rows"]["small_kernels"]["alula"]["us_per_kernel"] > 0
    # A wrong result is found, and named.
    wrong = bundle["programs"][0]
    file = folder / wrong["outputs"][0].partition("@")[2]
    file.write_bytes(bytes(byte ^ 0x41 for byte in file.read_bytes()))
    done = run_bundle()
    assert done.returncode == 1 and f"FAILED programs: wrong: {wrong['name']}" in done.stdout
