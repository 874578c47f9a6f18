"""H25: ops that only the tool knows."""

import os
import subprocess

import pytest
from preprocess_runs import fail, step, succeed, write_filter
from support.tool_runs import BIN, ROOT

LLVM = "/usr/lib/llvm-19"
TYPE = "tensor<4xf32>"


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "p.mlir"
    path.write_text(
        f"func.func @main(%a: {TYPE}, %b: {TYPE}) -> {TYPE} {{\n"
        f"  %0 = stablehlo.subtract %a, %b : {TYPE}\n  return %0 : {TYPE}\n}}\n"
    )
    return path


@pytest.fixture
def tool(tmp_path):
    """Replaces a - b by an op of its own, that is a * b + b."""
    return write_filter(
        tmp_path,
        "text = re.sub(r'stablehlo.subtract (%\\w+), (%\\w+) : (\\S+)', "
        "r'\"swap.mul_add\"(\\1, \\2, \\2) : (\\3, \\3, \\3) -> \\3', text)",
    )


@pytest.fixture
def plugin(tmp_path):
    path = tmp_path / "alula-plugin-swap.so"
    build = ROOT / os.environ.get("ALULA_INCLUDE_BUILD", "build")
    subprocess.run(
        ["clang++-19", "-std=c++20", "-fno-exceptions", "-isystem", f"{LLVM}/include"]
        + ["-shared", "-fPIC", "-fvisibility=hidden", f"-I{ROOT}/include", f"-I{build}/include"]
        + [ROOT / "examples/plugins/pass/swap.cpp", "-o", path]
        + [f"-L{LLVM}/lib", "-lMLIR", "-lLLVM"],
        check=True,
        timeout=2000,
    )
    return path


def test_h25_dialect_of_the_tool(program, tool, plugin, tmp_path, temporary):
    said = fail(program, "pre-unknown-dialect", step(tool), temporary=temporary)
    assert "a plugin may bring the dialect: --load-plugin" in said
    flags = [f"--load-plugin={plugin}", step(tool)]
    assert "swap.mul_add" in succeed(program, *flags)
    artifact = tmp_path / "out"
    lower = step("builtin.module(lower-mul-add)")
    succeed(program, *flags, lower, "-o", artifact, until=None)
    result = subprocess.run(
        [BIN / "alula-run", artifact, "--input=4xf32=2", "--input=4xf32=3"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "9,9,9,9" in result.stdout
