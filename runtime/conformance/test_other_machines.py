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
    "narrow_products": (
        """
func.func public @main(%x: tensor<17x37xbf16>, %y: tensor<37x41xbf16>, %z: tensor<17x37xi8>, %w: tensor<41x37xi8>) -> (tensor<17x41xf32>, tensor<17x41xi32>, tensor<41x41xui32>, tensor<1x41xi8>) {
  %i = stablehlo.iota dim = 1 : tensor<17x37xbf16>
  %a = stablehlo.add %x, %i : tensor<17x37xbf16>
  %c = stablehlo.dot_general %a, %y, contracting_dims = [1] x [0] : (tensor<17x37xbf16>, tensor<37x41xbf16>) -> tensor<17x41xf32>
  %j = stablehlo.iota dim = 0 : tensor<17x37xi8>
  %k = stablehlo.iota dim = 1 : tensor<17x37xi8>
  %l = stablehlo.multiply %k, %j : tensor<17x37xi8>
  %b = stablehlo.multiply %z, %l : tensor<17x37xi8>
  %m = stablehlo.iota dim = 0 : tensor<41x37xi8>
  %v = stablehlo.multiply %w, %m : tensor<41x37xi8>
  %d = stablehlo.dot_general %b, %v, contracting_dims = [1] x [1] : (tensor<17x37xi8>, tensor<41x37xi8>) -> tensor<17x41xi32>
  %u = stablehlo.bitcast_convert %v : (tensor<41x37xi8>) -> tensor<41x37xui8>
  %e = stablehlo.dot_general %u, %u, contracting_dims = [1] x [1] : (tensor<41x37xui8>, tensor<41x37xui8>) -> tensor<41x41xui32>
  %r = stablehlo.slice %b [3:4, 0:37] : (tensor<17x37xi8>) -> tensor<1x37xi8>
  %f = stablehlo.dot_general %r, %v, contracting_dims = [1] x [1] : (tensor<1x37xi8>, tensor<41x37xi8>) -> tensor<1x41xi8>
  return %c, %d, %e, %f : tensor<17x41xf32>, tensor<17x41xi32>, tensor<41x41xui32>, tensor<1x41xi8>
}""",
        ["17x37xbf16=0.5", "37x41xbf16=0.25", "17x37xi8=-37", "41x37xi8=53"],
    ),
    # Weights that are packed when the program is compiled.
    "narrow_weights": (
        """
func.func public @main(%x: tensor<19x45xbf16>, %z: tensor<19x45xi8>, %u: tensor<19x45xui8>) -> (tensor<19x70xf32>, tensor<19x70xi32>, tensor<19x70xi32>) {
  %i = stablehlo.iota dim = 1 : tensor<19x45xi8>
  %j = stablehlo.iota dim = 0 : tensor<19x45xi8>
  %k = stablehlo.multiply %i, %j : tensor<19x45xi8>
  %b = stablehlo.multiply %z, %k : tensor<19x45xi8>
  %bu = stablehlo.bitcast_convert %b : (tensor<19x45xi8>) -> tensor<19x45xui8>
  %c = stablehlo.xor %bu, %u : tensor<19x45xui8>
  %f = stablehlo.convert %b : (tensor<19x45xi8>) -> tensor<19x45xbf16>
  %a = stablehlo.multiply %x, %f : tensor<19x45xbf16>
  %w = stablehlo.constant dense<"0xWEIGHTS"> : tensor<45x70xi8>
  %v = stablehlo.constant dense<"0xHALVES"> : tensor<45x70xbf16>
  %0 = stablehlo.dot_general %a, %v, contracting_dims = [1] x [0] : (tensor<19x45xbf16>, tensor<45x70xbf16>) -> tensor<19x70xf32>
  %1 = stablehlo.dot_general %b, %w, contracting_dims = [1] x [0] : (tensor<19x45xi8>, tensor<45x70xi8>) -> tensor<19x70xi32>
  %2 = stablehlo.dot_general %c, %w, contracting_dims = [1] x [0] : (tensor<19x45xui8>, tensor<45x70xi8>) -> tensor<19x70xi32>
  return %0, %1, %2 : tensor<19x70xf32>, tensor<19x70xi32>, tensor<19x70xi32>
}""".replace("WEIGHTS", bytes(i * 37 % 251 for i in range(45 * 70)).hex())
        # Small integers: the upper half of their f32.
        .replace("HALVES", "".join("803f" if i % 3 else "40c0" for i in range(45 * 70))),
        ["19x45xbf16=0.5", "19x45xi8=-37", "19x45xui8=200"],
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
    "functions": (
        """
func.func public @main(%x: tensor<64xf16>, %y: tensor<64xbf16>, %z: tensor<64xf64>) -> (tensor<64xf16>, tensor<64xbf16>, tensor<64xf64>, tensor<64xf64>) {
  %i = stablehlo.iota dim = 0 : tensor<64xf16>
  %s = stablehlo.multiply %x, %i : tensor<64xf16>
  %a = stablehlo.sine %s : tensor<64xf16>
  %j = stablehlo.iota dim = 0 : tensor<64xbf16>
  %t = stablehlo.multiply %y, %j : tensor<64xbf16>
  %b = stablehlo.logistic %t : tensor<64xbf16>
  %k = stablehlo.iota dim = 0 : tensor<64xf64>
  %u = stablehlo.multiply %z, %k : tensor<64xf64>
  %c = stablehlo.cosine %u : tensor<64xf64>
  %d = chlo.lgamma %u : tensor<64xf64> -> tensor<64xf64>
  return %a, %b, %c, %d : tensor<64xf16>, tensor<64xbf16>, tensor<64xf64>, tensor<64xf64>
}""",
        ["64xf16=0.375", "64xbf16=-0.25", "64xf64=1.7"],
    ),
    "convolution": (
        """
func.func public @main(%x: tensor<2x9x8x3xf32>, %w: tensor<3x3x3x5xf32>) -> tensor<2x5x4x5xf32> {
  %i = stablehlo.iota dim = 2 : tensor<2x9x8x3xf32>
  %a = stablehlo.add %x, %i : tensor<2x9x8x3xf32>
  %j = stablehlo.iota dim = 3 : tensor<3x3x3x5xf32>
  %v = stablehlo.subtract %w, %j : tensor<3x3x3x5xf32>
  %c = stablehlo.convolution(%a, %v) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x9x8x3xf32>, tensor<3x3x3x5xf32>) -> tensor<2x5x4x5xf32>
  return %c : tensor<2x5x4x5xf32>
}""",
        ["2x9x8x3xf32=0.5", "3x3x3x5xf32=0.125"],
    ),
    "order": (
        """
func.func public @main(%key: tensor<2xui64>) -> (tensor<2xui64>, tensor<7x50xui32>, tensor<7x50xui32>, tensor<7xui32>) {
  %state, %bits = "stablehlo.rng_bit_generator"(%key) {rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<7x50xui32>)
  %sorted = "stablehlo.sort"(%bits) ({
  ^bb0(%a: tensor<ui32>, %b: tensor<ui32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true} : (tensor<7x50xui32>) -> tensor<7x50xui32>
  %zero = stablehlo.constant dense<0> : tensor<ui32>
  %sum = stablehlo.reduce(%bits init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<7x50xui32>, tensor<ui32>) -> tensor<7xui32>
  return %state, %bits, %sorted, %sum : tensor<2xui64>, tensor<7x50xui32>, tensor<7x50xui32>, tensor<7xui32>
}""",
        ["2xui64=3,5"],
    ),
    "complex": (
        """
func.func public @main(%x: tensor<12xcomplex<f32>>, %y: tensor<6x6xf64>) -> (tensor<12xcomplex<f32>>, tensor<12xf32>, tensor<12xcomplex<f32>>, tensor<6x6xf64>) {
  %a = stablehlo.exponential %x : tensor<12xcomplex<f32>>
  %b = stablehlo.multiply %a, %x : tensor<12xcomplex<f32>>
  %c = stablehlo.abs %b : (tensor<12xcomplex<f32>>) -> tensor<12xf32>
  %d = stablehlo.fft %b, type = FFT, length = [12] : (tensor<12xcomplex<f32>>) -> tensor<12xcomplex<f32>>
  %i = stablehlo.iota dim = 0 : tensor<6x6xi32>
  %j = stablehlo.iota dim = 1 : tensor<6x6xi32>
  %p = stablehlo.compare EQ, %i, %j : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
  %k = stablehlo.iota dim = 0 : tensor<6x6xf64>
  %seven = stablehlo.constant dense<7.0> : tensor<6x6xf64>
  %m = stablehlo.add %k, %seven : tensor<6x6xf64>
  %s = stablehlo.select %p, %m, %y : tensor<6x6xi1>, tensor<6x6xf64>
  %l = stablehlo.cholesky %s, lower = true : tensor<6x6xf64>
  return %b, %c, %d, %l : tensor<12xcomplex<f32>>, tensor<12xf32>, tensor<12xcomplex<f32>>, tensor<6x6xf64>
}""",
        ["12xcomplex<f32>=(0.5,-0.25)", "6x6xf64=0.5"],
    ),
    "gather": (
        """
func.func public @main(%x: tensor<9x4xf32>, %at: tensor<5x1xi32>) -> (tensor<5x4xf32>, tensor<9x4xf32>) {
  %i = stablehlo.iota dim = 0 : tensor<9x4xf32>
  %a = stablehlo.multiply %x, %i : tensor<9x4xf32>
  %g = "stablehlo.gather"(%a, %at) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>} : (tensor<9x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  %s = "stablehlo.scatter"(%a, %at, %g) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %r = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<9x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<9x4xf32>
  return %g, %s : tensor<5x4xf32>, tensor<9x4xf32>
}""",
        ["9x4xf32=1.5", "5x1xi32=8,0,3,3,7"],
    ),
}


def run(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, **options)
    assert result.returncode == 0, f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}"
    return result.stdout


# Of each target the machine, and the processor that has just what it needs.
TARGETS = {
    "aarch64": ("aarch64", "cortex-a57"),
    "aarch64-dot": ("aarch64", "cortex-a76"),
    "aarch64-mmla": ("aarch64", "max"),
    "riscv64": ("riscv64", None),
}


@pytest.fixture(scope="module", params=TARGETS)
def machine(request):
    """A target's name and the words that run a program of ours on it."""
    name, processor = TARGETS[request.param]
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
    chosen = ["-cpu", processor] if processor else []
    return request.param, [qemu, *chosen, "-L", f"/usr/{name}-linux-gnu", folder / "bin/alula-run"]


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
        f"no variant fits this machine: 'x86-64-v3' needs x86_64; this is {TARGETS[target][0]}"
        in result.stderr
    )
