"""Artifacts for aarch64 and riscv64 run under qemu and give what this machine gives."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")

PROGRAMS = {
    "arithmetic": (
        """
func.func public @main(%x: tensor<4x33xf32>, %y: tensor<4x33xf32>) -> (tensor<4x33xf32>, tensor<4x33xi32>) {
  %a = stablehlo.exponential %x : tensor<4x33xf32>
  %b = stablehlo.tanh %y : tensor<4x33xf32>
  %c = stablehlo.divide %a, %b : tensor<4x33xf32>
  %d = stablehlo.convert %c : (tensor<4x33xf32>) -> tensor<4x33xi32>
  return %c, %d : tensor<4x33xf32>, tensor<4x33xi32>
}""",
        ["4x33xf32=0.75", "4x33xf32=-1.5"],
    ),
    "product": (
        """
func.func public @main(%x: tensor<17x19xf32>, %y: tensor<19x23xf32>) -> tensor<17x23xf32> {
  %i = stablehlo.iota dim = 1 : tensor<17x19xf32>
  %a = stablehlo.add %x, %i : tensor<17x19xf32>
  %c = stablehlo.dot_general %a, %y, contracting_dims = [1] x [0] : (tensor<17x19xf32>, tensor<19x23xf32>) -> tensor<17x23xf32>
  return %c : tensor<17x23xf32>
}""",
        ["17x19xf32=0.5", "19x23xf32=0.25"],
    ),
    "loop": (
        """
func.func public @main(%n: tensor<i64>, %x: tensor<8xf64>) -> (tensor<i64>, tensor<8xf64>) {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %r:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i64>, tensor<8xf64>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i64>
      %t = stablehlo.multiply %s, %s : tensor<8xf64>
      stablehlo.return %j, %t : tensor<i64>, tensor<8xf64>
    }
  return %r#0, %r#1 : tensor<i64>, tensor<8xf64>
}""",
        ["i64=5", "8xf64=1.0625"],
    ),
    "small_types": (
        """
func.func public @main(%x: tensor<64xbf16>, %y: tensor<64xi4>) -> (tensor<64xbf16>, tensor<64xi4>, tensor<64xf16>) {
  %a = stablehlo.multiply %x, %x : tensor<64xbf16>
  %b = stablehlo.add %y, %y : tensor<64xi4>
  %c = stablehlo.convert %a : (tensor<64xbf16>) -> tensor<64xf16>
  return %a, %b, %c : tensor<64xbf16>, tensor<64xi4>, tensor<64xf16>
}""",
        ["64xbf16=1.171875", "64xi4=5"],
    ),
}


def run(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, **options)
    assert result.returncode == 0, f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}"
    return result.stdout


@pytest.fixture(scope="module", params=["aarch64", "riscv64"])
def machine(request):
    """A machine's name and the words that run a program of ours on it."""
    name = request.param
    qemu = shutil.which(f"qemu-{name}")
    if not qemu:
        pytest.skip(f"no qemu-{name}: Debian's qemu-user has it")
    if not Path(f"/usr/{name}-linux-gnu/include/c++").exists():
        package = {"aarch64": "arm64"}.get(name, name)
        pytest.skip(f"no libraries for {name}: Debian's libstdc++-12-dev-{package}-cross has them")
    folder = BUILD / f"qemu-{name}"
    if not (folder / "build.ninja").exists():
        flags = [f"-DALULA_CROSS={name}", "-DCMAKE_BUILD_TYPE=Release"]
        flags += ["-DALULA_BUILD_COMPILER=OFF", "-DALULA_BUILD_TESTS=OFF"]
        toolchain = ["--toolchain", ROOT / "cmake/cross.cmake"]
        run("cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, *toolchain, *flags)
    run("ninja", "-C", folder, "alula-run")
    return name, [qemu, "-L", f"/usr/{name}-linux-gnu", folder / "bin/alula-run"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_equal_results(machine, name, tmp_path):
    text, inputs = PROGRAMS[name]
    target, runner = machine
    source, artifact = tmp_path / "program.mlir", tmp_path / "program.alula"
    source.write_text(text)
    # One file for both machines.
    compiler = BUILD / "bin/alula-compile"
    targets = [f"--target=cpu:{target}", "--target=cpu:host"]
    run(compiler, source, "-o", artifact, *targets)
    flags = [f"--input={value}" for value in inputs] + ["--threads=2"]
    here = run(BUILD / "bin/alula-run", artifact, *flags).splitlines()
    # Fused operations round differently: floats may differ in the last bits.
    expected = [f"--expected_output={line}" for line in here]
    run(*runner, artifact, *flags, *expected, "--rtol=1e-6")


def test_what_is_missing_is_said(machine, tmp_path):
    target, runner = machine
    source, artifact = tmp_path / "program.mlir", tmp_path / "program.alula"
    source.write_text(PROGRAMS["product"][0])
    run(BUILD / "bin/alula-compile", source, "-o", artifact, "--target=cpu:x86-64-v3")
    result = subprocess.run([*runner, artifact, "--list"], capture_output=True, text=True)
    assert result.returncode == 1
    assert (
        f"no variant fits this machine: 'x86-64-v3' needs x86_64; this is {target}" in result.stderr
    )
