"""Machine code beside PTX: made by a ptxas that only marks its texts, chosen by a
driver that interprets them."""

import ctypes
import json
import os
import pathlib
import stat
import sys

import fake_gpu
import numpy as np
import pytest
from support import cuda_image
from support.tool_runs import check_failure, check_success, run_tool

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "jax"), str(HERE.parent / "native")]

import alula_library

pytestmark = fake_gpu.needs_build

PROGRAM = """
func.func @main(%x: tensor<64x8xf32>) -> (tensor<64x8xf32>, tensor<64x64xf32>) {
  %0 = stablehlo.sine %x : tensor<64x8xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [1] : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x64xf32>
  return %0, %1 : tensor<64x8xf32>, tensor<64x64xf32>
}
"""
# What is asked of it is what NVIDIA's is asked; a text for a later chip is refused.
PTXAS = """#!/bin/sh
chip=${1#-arch=sm_}
[ "$3" = -o ] || exit 2
wanted=$(sed -n 's/^\\.target sm_\\([0-9]*\\).*/\\1/p' "$2")
if [ "$wanted" -gt "${chip%a}" ]; then
  echo "$2, line 7; error: .target sm_$wanted is later than sm_$chip"
  exit 255
fi
{ printf '\\177ELF sm_%s\\n' "${MARKED:-$chip}"; cat "$2"; printf '\\0'; } >"$4"
"""


@pytest.fixture(scope="module")
def ptxas(tmp_path_factory):
    path = tmp_path_factory.mktemp("toolkit") / "ptxas"
    path.write_text(PTXAS)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM)
    return path


def compile(program, *flags, target="cuda:sm_80", **environment):
    artifact = program.with_suffix(".alula")
    words = [program, *flags, f"--target={target}", "-o", artifact]
    return artifact, run_tool("alula-compile", *words, environment=environment)


def made(*words, **environment):
    artifact, result = compile(*words, **environment)
    check_success(result)
    return artifact


def read(artifact, target="cuda:sm_80"):
    image = check_success(run_tool("alula-inspect", artifact, f"--extract={target}"))
    return cuda_image.read(image)


def list_forms(artifact):
    said = json.loads(check_success(run_tool("alula-inspect", artifact, "--json")))
    [variant] = said["variants"]
    return [(code["kind"], code["chip"], code["count"]) for code in variant["codes"]]


def test_each_text_has_a_cubin_for_each_chip(program, ptxas):
    artifact = made(program, f"--cuda-ptxas={ptxas}", "--cuda-cubins=sm_80,sm_86,sm_90a")
    modules = read(artifact).modules
    assert len(modules) == 2
    for text, *cubins in modules:
        assert [(code.chip, code.flags) for code in cubins] == [(80, 0), (86, 0), (90, 1)]
        for code, name in zip(cubins, ["80", "86", "90a"], strict=True):
            assert code.kind == cuda_image.CUBIN
            assert code.data == b"\x7fELF sm_" + name.encode() + b"\n" + text.data
    chips = ["sm_80", "sm_86", "sm_90a"]
    assert list_forms(artifact) == [("ptx", "sm_80", 2), *(("cubin", chip, 2) for chip in chips)]
    shown = check_success(run_tool("alula-inspect", artifact)).decode()
    size = sum(len(code.data) for _, _, code, _ in modules)
    assert f"\n  cubins for sm_86: 2, {size} bytes\n" in shown
    assert 'options = "cuda:sm_80 cuda-cubins=sm_80,sm_86,sm_90a"' in shown


def test_texts_are_shown(program, ptxas):
    artifact = made(program, f"--cuda-ptxas={ptxas}", "--cuda-cubins=sm_90a")
    shown = check_success(run_tool("alula-inspect", artifact, "--disassemble")).decode()
    for text, _ in read(artifact).modules:
        assert text.text + "\n  a cubin for sm_90a: not disassembled\n" in shown


def test_found_in_path_and_home(program, ptxas):
    folder = str(ptxas.parent)
    flag = "--cuda-cubins=sm_80"
    path = f"{folder}:{os.environ['PATH']}"
    first = made(program, flag, PATH=path).read_bytes()
    home = ptxas.parent / "home/bin"
    home.mkdir(parents=True)
    (home / "ptxas").symlink_to(ptxas)
    assert (
        made(program, flag, CUDA_HOME=str(home.parent), PATH="/usr/bin:/bin").read_bytes() == first
    )
    # Who does not ask has none, whatever is installed.
    assert list_forms(made(program, PATH=path)) == [("ptx", "sm_80", 2)]


@pytest.mark.parametrize("chip, cubins", [(80, 2), (86, 2), (89, 2), (90, 0), (100, 0)], ids=str)
def test_chosen_by_the_chip(program, ptxas, chip, cubins):
    assert run(made(program, f"--cuda-ptxas={ptxas}", "--cuda-cubins=sm_86,sm_80"), chip) == cubins


def test_what_the_driver_does_not_know_is_text_instead(program, ptxas):
    artifact = made(program, f"--cuda-ptxas={ptxas}", "--cuda-cubins=sm_80", MARKED="99")
    assert run(artifact, 80) == 0


def run(artifact, chip):
    """How many cubins were loaded; the numbers are right."""
    fake_gpu.load()
    fake = ctypes.CDLL(str(fake_gpu.LIBRARY))
    fake.fakeCudaCount.restype = ctypes.c_uint64
    before = fake.fakeCudaCount(b"cubins")
    fake.fakeCudaConfigure(chip, 2, 12040)
    try:
        runtime = alula_library.Runtime(fake_gpu.BUILD, device="cuda")
        x = np.random.default_rng(0).normal(size=(64, 8)).astype(np.float32)
        executable = runtime.load(artifact.read_bytes())
        one, two = executable.call(executable.find("main"), [runtime.new_buffer(x, "f32")])
        np.testing.assert_allclose(one.array(), np.sin(x), rtol=1e-6)
        np.testing.assert_allclose(two.array(), x @ np.sin(x).T, rtol=1e-4, atol=1e-5)
        executable.destroy()
    finally:
        fake.fakeCudaConfigure(80, 2, 12040)
    return fake.fakeCudaCount(b"cubins") - before


def test_errors(program, ptxas):
    given = f"--cuda-ptxas={ptxas}"

    def fail(*flags, status=1, **environment):
        return check_failure(compile(program, *flags, **environment)[1], status)

    said = fail("--cuda-cubins=sm_80", PATH="/nowhere", CUDA_HOME="", CUDA_PATH="")
    assert "--cuda-cubins needs ptxas, which is not in PATH, CUDA_HOME or CUDA_PATH" in said
    said = fail("--cuda-cubins=sm_80", "--cuda-ptxas=/nowhere/ptxas")
    assert "[cuda-ptxas] @main" in said and "'/nowhere/ptxas' did not run" in said
    said = fail(given, "--cuda-cubins=sm_75")
    assert "no target's code can be made for sm_75: the targets are cuda:sm_80" in said
    said = fail(given, "--cuda-cubins=sm_90", target="cuda:sm_90a")
    assert "no target's code can be made for sm_90: the targets are cuda:sm_90a" in said
    for wrong in ["80", "sm_100f", ""]:
        said = fail(given, f"--cuda-cubins={wrong}", status=2)
        assert f"--cuda-cubins: must be chips, as 'sm_80,sm_90a': is '{wrong}'" in said
    refusing = ptxas.with_name("refusing")
    refusing.write_text(
        '#!/bin/sh\necho "ptxas $2, line 7; error   : Out of registers"\nexit 255\n'
    )
    refusing.chmod(0o755)
    said = fail(f"--cuda-ptxas={refusing}", "--cuda-cubins=sm_80")
    assert "is refused by ptxas: line 7; error   : Out of registers" in said or (
        "is refused by ptxas: ; line 7" in said
    )
