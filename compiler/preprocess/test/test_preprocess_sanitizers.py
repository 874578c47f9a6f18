"""H24: the supervisor of tools under AddressSanitizer and ThreadSanitizer.

Only its own files are made anew; `./dev test preprocess-stress` does the same to the whole room.
"""

import shutil
import subprocess

import pytest
from support.tool_runs import ROOT

FILES = ["job_server.cpp", "tool_process.cpp", "tool_process_test.cpp"]
LLVM = "/usr/lib/llvm-19"


@pytest.mark.parametrize("sanitizer", ["address,undefined", "thread"])
def test_h24_sanitizers(tmp_path, sanitizer):
    compiler = shutil.which("clang++-19")
    assert compiler, "what builds the compiler is clang++-19"
    binary = tmp_path / "test"
    subprocess.run(
        [compiler, "-std=c++20", "-O1", "-g1", f"-fsanitize={sanitizer}", f"-I{ROOT}"]
        + [f"-I{LLVM}/include", "-fno-rtti", "-fno-exceptions", "-o", binary]
        + [ROOT / "compiler/preprocess" / name for name in FILES]
        + [f"-L{LLVM}/lib", "-lLLVM-19", "-lgtest", "-lgtest_main"],
        check=True,
        timeout=2000,
    )
    names = "*jobsAreLimited:*makeCountsTools:*eachHasItsTimeLimit:*stress"
    result = subprocess.run(
        [binary, f"--gtest_filter={names}", "--gtest_brief=1"],
        capture_output=True,
        text=True,
        timeout=2000,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "4 tests ran" in result.stdout or "PASSED  ] 4 tests" in result.stdout
    assert "Sanitizer" not in result.stderr
