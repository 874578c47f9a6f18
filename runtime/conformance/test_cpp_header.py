"""alula/runtime.hpp says all that alula/runtime.h does, in C++17."""

import re
import shutil
import subprocess

import pytest
from support.tool_runs import ROOT

HEADERS = ROOT / "include/alula"
FUNCTION = re.compile(r"ALULA_API[^;]*?\b(alula_\w+)\(")
FLAGS = "-std=c++17 -Wall -Wextra -Wshadow -Wconversion -Werror -fno-exceptions -fno-rtti".split()


def test_every_function_is_there():
    functions = FUNCTION.findall((HEADERS / "runtime.h").read_text())
    assert len(functions) > 50
    used = set(re.findall(r"\balula_\w+", (HEADERS / "runtime.hpp").read_text()))
    assert not [name for name in functions if name not in used]


@pytest.mark.parametrize("compiler", ["clang++-19", "g++"])
def test_compiles_without_warnings(compiler, tmp_path):
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    source = tmp_path / "only.cpp"
    source.write_text('#include "alula/runtime.hpp"\n')
    done = subprocess.run(
        [compiler, *FLAGS, f"-I{ROOT / 'include'}", "-fsyntax-only", source],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
