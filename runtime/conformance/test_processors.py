"""A file for machines that are not known runs on each with the best code that it can run, in whatever
order targets were named. The processors are qemu's; what it can't emulate of one (AVX-512), it
doesn't show by CPUID either."""

import itertools
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")
QEMU = shutil.which("qemu-x86_64")

pytestmark = pytest.mark.skipif(not QEMU, reason="no qemu-x86_64: Debian's qemu-user has it")

PROGRAM = """
func.func public @main(%x: tensor<17x19xf32>, %y: tensor<19x23xf32>) -> tensor<17x23xf32> {
  %c = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<17x19xf32>, tensor<19x23xf32>) -> tensor<17x23xf32>
  return %c : tensor<17x23xf32>
}"""

# By the manuals: AVX2, BMI, FMA, F16C, LZCNT and MOVBE came with Haswell and with Zen (Excavator
# is not among these).
V2 = [
    "Nehalem",
    "Nehalem-IBRS",
    "Westmere",
    "Westmere-IBRS",
    "SandyBridge",
    "IvyBridge",
    "Denverton",
]
V3 = [
    "Haswell",
    "Haswell-noTSX",
    "Broadwell",
    "Broadwell-noTSX",
    "Skylake-Client",
    "Skylake-Server",
    "Cascadelake-Server",
    "Cooperlake",
    "Icelake-Server",
    "EPYC",
    "EPYC-Rome",
    "EPYC-Milan",
    "Dhyana",
]
NONE = ["core2duo", "Opteron_G2"]
LEVELS = ["x86-64-v4", "x86-64-v3", "x86-64-v2"]


def compile_program(folder, *targets):
    source, artifact = folder / "p.mlir", folder / "p.alula"
    source.write_text(PROGRAM)
    flags = [f"--target=cpu:{target}" for target in targets]
    subprocess.run([BUILD / "bin/alula-compile", source, "-o", artifact, *flags], check=True)
    return artifact


@pytest.fixture(scope="module")
def artifact(tmp_path_factory):
    return compile_program(tmp_path_factory.mktemp("portable"))


def run(cpu, artifact, *flags):
    words = [QEMU, "-cpu", cpu, BUILD / "bin/alula-run", artifact, "--threads=1", *flags]
    inputs = ["--input=17x19xf32=0.5", "--input=19x23xf32=0.25"]
    return subprocess.run([*words, *inputs], capture_output=True, text=True)


@pytest.mark.parametrize("cpu", V2 + V3)
def test_best_variant(artifact, cpu):
    best = "x86-64-v2" if cpu in V2 else "x86-64-v3"
    result = run(cpu, artifact, "--list")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == f"variant {best}"
    # The best one that can be had: those before it are refused.
    for level in LEVELS:
        named = run(cpu, artifact, f"--variant={level}", "--list")
        assert (named.returncode == 0) == (LEVELS.index(level) >= LEVELS.index(best)), level
    result = run(cpu, artifact, "--expected_output=17x23xf32=2.375")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("cpu", NONE)
def test_too_old(artifact, cpu):
    result = run(cpu, artifact)
    assert result.returncode == 1
    assert result.stderr.strip().endswith("alula-compile --target=cpu:x86-64 makes one that fits")


def test_every_order(tmp_path):
    bytes_ = {
        compile_program(tmp_path, *order).read_bytes()
        for order in itertools.permutations(["x86-64-v2", "x86-64-v4", "x86-64-v3"])
    }
    assert len(bytes_) == 1
    shown = subprocess.run(
        [BUILD / "bin/alula-inspect", tmp_path / "p.alula"], capture_output=True, text=True
    ).stdout
    assert list(dict.fromkeys(re.findall(r"x86-64-v\d", shown)))[:3] == LEVELS


def test_portable_is_the_default(artifact, tmp_path):
    assert artifact.read_bytes() == compile_program(tmp_path, "portable").read_bytes()
