"""Builds plugins and runs the tools with them."""

import shutil
import subprocess
from pathlib import Path

from support.tool_runs import BUILD, ROOT, check_failure, check_success, run_tool

INPUTS = Path(__file__).parent / "Inputs"
SAMPLES = ROOT / "examples/plugins"
LLVM = Path("/usr/lib/llvm-19")
PROGRAM = SAMPLES / "pass/program.mlir"


def run(*words, tool="alula-compile", timeout=2000, **options):
    return run_tool(tool, *words, timeout=timeout, text=True, errors="replace", **options)


def succeed(*words, **options):
    return check_success(run(*words, **options))


def fail(tag, *words, status=2, **options):
    said = check_failure(run(*words, **options), status)
    assert f"[{tag}]" in said, said
    assert "ignored" not in said
    return said


def build(output, source, *flags):
    """A library of tier C, or of tier M if it is C++ with MLIR's headers."""
    is_m = Path(source).suffix == ".cpp"
    command = [
        "clang++-19" if is_m else "clang-19",
        "-std=c++20" if is_m else "-std=c11",
        *(["-fno-exceptions", "-isystem", LLVM / "include"] if is_m else []),
        *["-shared", "-fPIC", "-fvisibility=hidden", "-I", ROOT / "include"],
        *["-I", BUILD / "include", source, "-o", output, *flags],
    ]
    subprocess.run(command, check=True, timeout=2000)
    return output


def build_m(output, source, *flags):
    return build(output, source, *flags, f"-L{LLVM}/lib", "-lMLIR", "-lLLVM")


def probe(folder, name="probe", **macros):
    flags = [
        f"-D{key}=" + (f'"{value}"' if isinstance(value, str) else str(value))
        for key, value in macros.items()
    ]
    return build(folder / f"alula-plugin-{name}.so", INPUTS / "probe.c", *flags)


def compute(*flags, program=PROGRAM, folder, **options):
    """What the program makes of 2, 3 and 5."""
    artifact = folder / "program.alula"
    succeed(program, "-o", artifact, *flags, **options)
    values = [f"--input=4xf32={n}" for n in (2, 3, 5)]
    return succeed(artifact, *values, tool="alula-run").strip()


SUM, SWAPPED, DIFFERENCE = "4xf32=11,11,11,11", "4xf32=25,25,25,25", "4xf32=1,1,1,1"


def build_sample(name, package, folder):
    """A folder of examples/plugins, built as a stranger would; where the result
    is."""
    return build_project(SAMPLES / name, package, folder)


def build_project(source, package, folder):
    shutil.copytree(source, folder / "source")
    compilers = ["-DCMAKE_CXX_COMPILER=clang++-19", "-DCMAKE_C_COMPILER=clang-19"]
    configure = ["cmake", "-G", "Ninja", "-S", "source", "-B", "build", *compilers]
    for command in (
        [*configure, f"-DCMAKE_PREFIX_PATH={package}"],
        ["cmake", "--build", "build"],
    ):
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=2000)
        assert result.returncode == 0, result.stdout + result.stderr
    return folder / "build"
