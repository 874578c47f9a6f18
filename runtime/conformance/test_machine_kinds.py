"""One artifact for a server and for a board with two cores: each machine runs its own program, with equal results."""

import re
import subprocess

from test_other_machines import BUILD, machine, run  # noqa: F401

WEIGHTS = ", ".join(
    "[" + ", ".join(f"{(3 * row + column) % 17}.0" for column in range(72)) + "]"
    for row in range(64)
)
PROGRAM = """
func.func public @main(%x: tensor<256x512xf32>, %y: tensor<512x384xf32>, %z: tensor<128x64xf32>) -> (tensor<384xf32>, tensor<72xf32>) {
  %w = stablehlo.constant dense<[WEIGHTS]> : tensor<64x72xf32>
  %d = stablehlo.dot_general %z, %w, contracting_dims = [1] x [0] : (tensor<128x64xf32>, tensor<64x72xf32>) -> tensor<128x72xf32>
  %i = stablehlo.iota dim = 1 : tensor<256x512xf32>
  %scale = stablehlo.constant dense<0.0078125> : tensor<256x512xf32>
  %j = stablehlo.multiply %i, %scale : tensor<256x512xf32>
  %a = stablehlo.add %x, %j : tensor<256x512xf32>
  %c = stablehlo.dot_general %a, %y, contracting_dims = [1] x [0] : (tensor<256x512xf32>, tensor<512x384xf32>) -> tensor<256x384xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<256x384xf32>, tensor<f32>) -> tensor<384xf32>
  %t = stablehlo.reduce(%d init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<128x72xf32>, tensor<f32>) -> tensor<72xf32>
  return %s, %t : tensor<384xf32>, tensor<72xf32>
}
""".replace("WEIGHTS", WEIGHTS)
INPUTS = ["--input=256x512xf32=0.5", "--input=512x384xf32=0.25", "--input=128x64xf32=1.5"]


def compile_for(tmp_path, *targets):
    source, artifact = tmp_path / "program.mlir", tmp_path / "program.alula"
    source.write_text(PROGRAM)
    flags = [f"--target={target}" for target in targets]
    run(BUILD / "bin/alula-compile", source, "-o", artifact, *flags)
    return artifact


def inspect(artifact, program):
    """The grids of a program's dispatches, and the sizes of its constants."""
    text = run(BUILD / "bin/alula-inspect", artifact, f"--program={program}")
    return re.findall(r" grid ?\(([^)]*)\)", text), re.findall(r"constant \d+: (\d+) bytes", text)


def test_each_machine_runs_its_own(machine, tmp_path):  # noqa: F811
    target, runner = machine
    board = f"cpu:{target}:cores=2:l2_bytes=1M:l3_bytes=0:panel_bytes=0"
    artifact = compile_for(tmp_path, "cpu:host", board)
    (grids, constants), (few, plain) = inspect(artifact, "cpu:host"), inspect(artifact, board)
    assert grids and few and grids != few
    # Panels of 32 columns here, and rows as they are there.
    assert str(64 * 96 * 4) in constants and str(64 * 72 * 4) in plain
    here = run(BUILD / "bin/alula-run", artifact, *INPUTS, "--threads=2").splitlines()
    expected = [f"--expected_output={line}" for line in here]
    run(*runner, artifact, *INPUTS, "--threads=2", *expected, "--rtol=1e-5")


def test_threads_decide_between_kinds(tmp_path):
    # The second program alone fits two threads; both give the same.
    artifact = compile_for(tmp_path, "cpu:host:cores=64", "cpu:host:cores=2:l2_bytes=64K")
    whole = run(BUILD / "bin/alula-run", artifact, *INPUTS, "--threads=64")
    assert run(BUILD / "bin/alula-run", artifact, *INPUTS, "--threads=2") == whole


def test_what_fits_nowhere_is_said(machine, tmp_path):  # noqa: F811
    target, runner = machine
    artifact = compile_for(tmp_path, "cpu:x86-64-v3", "cpu:x86-64-v3:cores=2")
    result = subprocess.run([*runner, artifact, "--list"], capture_output=True, text=True)
    assert result.returncode == 1
    for name in ("cpu:x86-64-v3", "cpu:x86-64-v3:cores=2"):
        assert f"program '{name}': no variant fits this machine" in result.stderr
