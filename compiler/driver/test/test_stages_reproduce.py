"""What a failure leaves behind: D9, D10; making programs smaller."""

import os
import re
import shutil
import signal
import subprocess

import pytest
from stage_programs import CHAIN, STAGES, TARGET, fail, run, succeed
from support.tool_runs import BIN

ENVIRONMENT = dict(os.environ, PATH=f"{BIN}:/usr/bin:/bin")


def test_d09_pipelines_of_all_stages():
    """What is printed of each stage is what alula-opt makes of it."""
    text = succeed("--print-stages").decode()
    assert re.findall(r"^(\w+)", text, re.MULTILINE) == [*STAGES, "emit"]
    pipelines = re.findall(r"^  (builtin\.module\(.*\))$", text, re.MULTILINE)
    assert len(pipelines) == 7
    for pipeline in pipelines:
        # That it prints the same again is in stages_test.cpp.
        succeed("-", f"--pass-pipeline={pipeline}", program=BIN / "alula-opt", input=b"module {}")


def compile_failing(folder, how, *flags):
    (folder / "chain.mlir").write_text(CHAIN)
    flags = [TARGET, f"--test-fail-in={how}", "-o", "a.alula", *flags]
    result = run("chain.mlir", *flags, cwd=folder)
    assert result.returncode and not (folder / "a.alula").exists()
    return result


def find_folder(folder):
    found = list(folder.glob("alula-compile-crash-*"))
    return found[0] if found else None


def rerun(folder, script="rerun.sh"):
    return subprocess.run(
        ["sh", folder / script], capture_output=True, env=ENVIRONMENT, timeout=2000
    )


@pytest.mark.parametrize("stage", [*STAGES, "emit"])
@pytest.mark.parametrize("how", ["crash", "silent"])
def test_d10_reproducer(stage, how, tmp_path):
    result = compile_failing(tmp_path, f"{stage}:{how}")
    assert result.returncode == (-signal.SIGABRT if how == "crash" else 1)
    if how == "silent":
        assert f"stage '{stage}' has failed and doesn't say why" in result.stderr.decode()
    folder = find_folder(tmp_path)
    assert f"note: how to see this again is in {folder.name}" in result.stderr.decode()
    assert {file.name for file in folder.iterdir()} == {"before.mlir", "rerun.sh", "stages.txt"}
    assert "builtin.module(" in (folder / "stages.txt").read_text()
    # Elsewhere, without the program.
    (tmp_path / "chain.mlir").unlink()
    moved = shutil.move(folder, tmp_path / "else where")
    again = rerun(moved)
    assert again.returncode == (-signal.SIGABRT if how == "crash" else 1)
    if stage != "input":
        before = STAGES[STAGES.index(stage) - 1] if stage != "emit" else "target"
        assert (moved / "before.mlir").read_text().startswith("// alula ")
        assert f"after stage '{before}'" in (moved / "before.mlir").read_text().splitlines()[0]
    assert str(tmp_path) not in (moved / "rerun.sh").read_text()


def test_d10_from_standard_input(tmp_path):
    result = run("-", "--test-fail-in=kernel:crash", cwd=tmp_path, input=CHAIN.encode())
    assert result.returncode == -signal.SIGABRT
    folder = find_folder(tmp_path)
    assert {file.name for file in folder.iterdir()} == {"before.mlir", "rerun.sh", "stages.txt"}
    assert "after stage 'plan'" in (folder / "before.mlir").read_text()
    assert rerun(folder).returncode == -signal.SIGABRT


def test_d10_of_a_dump(tmp_path):
    (tmp_path / "chain.mlir").write_text(CHAIN)
    dump = succeed(
        "chain.mlir", TARGET, "--test-fail-in=schedule:crash", "--compile-to=dispatch", cwd=tmp_path
    )
    assert run("-", cwd=tmp_path, input=dump).returncode == -signal.SIGABRT
    folder = find_folder(tmp_path)
    assert "after stage 'kernel'" in (folder / "before.mlir").read_text()
    assert rerun(folder).returncode == -signal.SIGABRT


def test_d10_local(tmp_path):
    compile_failing(tmp_path, "kernel:crash", "--crash-reproducer=r", "--crash-reproducer-local")
    assert (
        'pipeline: "builtin.module(driver-test-fail{how=crash})"'
        in (tmp_path / "r/local.mlir").read_text()
    )
    assert rerun(tmp_path / "r", "rerun-local.sh").returncode == -signal.SIGABRT


def test_d10_what_is_the_programs_fault(tmp_path):
    """An error that says what is wrong with the program leaves nothing, unless
    it is asked for."""
    compile_failing(tmp_path, "dispatch:say")
    assert find_folder(tmp_path) is None
    compile_failing(tmp_path, "kernel:crash", "--crash-reproducer=off")
    assert find_folder(tmp_path) is None
    compile_failing(tmp_path, "kernel:say", "--crash-reproducer=r")
    again = rerun(tmp_path / "r")
    assert again.returncode == 1 and b"fails to be tested" in again.stderr


@pytest.mark.parametrize("how", ["kernel:say", "schedule:say", "optimize:invalid"])
def test_d10_what_is_the_compilers_fault(how, tmp_path):
    """An error of a stage that no program may fail in, or an invalid program."""
    result = compile_failing(tmp_path, how)
    folder = find_folder(tmp_path)
    assert result.returncode == 1 and f"is in {folder.name}" in result.stderr.decode()
    (tmp_path / "chain.mlir").unlink()
    again = rerun(shutil.move(folder, tmp_path / "else where"))
    assert again.returncode == 1

    def get_errors(said):
        return re.findall(r"error: (.*)", said.decode())

    assert get_errors(again.stderr) == get_errors(result.stderr)


@pytest.mark.parametrize("full", [[], ["--reproducer-full"]], ids=["", "full"])
def test_d10_folders_of_the_machine(full, tmp_path):
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\ncat\n")
    tool.chmod(0o755)
    compile_failing(tmp_path, "input:crash", f"--preprocess-executables-with={tool} --x", *full)
    script = (find_folder(tmp_path) / "rerun.sh").read_text()
    assert (str(tmp_path) in script) == bool(full)
    assert f"--preprocess-executables-with={tool if full else 'tool'} --x" in script


def test_d10_no_place(tmp_path):
    result = compile_failing(tmp_path, "kernel:crash", "--crash-reproducer=/dev/null/r")
    assert b"no folder for a reproducer: /dev/null/r" in result.stderr
    assert result.returncode == -signal.SIGABRT


def test_reduce(tmp_path):
    (tmp_path / "chain.mlir").write_text(CHAIN)
    script = tmp_path / "has_abs.sh"
    script.write_text('#!/bin/sh\n! grep -q stablehlo.abs "$1"\n')
    script.chmod(0o755)
    reduce = BIN / "alula-compile-reduce"
    small = succeed("chain.mlir", "--test=has_abs.sh", program=reduce, cwd=tmp_path).decode()
    assert "stablehlo.abs" in small and "stablehlo.dot" not in small
    succeed("-", "-o", "/dev/null", input=small.encode())
    script.write_text("#!/bin/sh\nexit 0\n")
    assert "--test finds nothing in the program as it is" in fail(
        "chain.mlir", "--test=has_abs.sh", program=reduce, cwd=tmp_path, status=1
    )
    assert "--test: can't be run: 'none.sh'" in fail(
        "chain.mlir", "--test=none.sh", program=reduce, cwd=tmp_path
    )


def test_reduce_a_crash(tmp_path):
    """With the compiler itself as what is looked at."""
    (tmp_path / "chain.mlir").write_text(CHAIN)
    script = tmp_path / "crashes.sh"
    script.write_text(
        f'#!/bin/sh\n{BIN}/alula-compile "$1" --test-fail-in=kernel:crash --crash-reproducer=off -o /dev/null 2>/dev/null\n'
    )
    script.chmod(0o755)
    small = succeed(
        "chain.mlir", "--test=crashes.sh", program=BIN / "alula-compile-reduce", cwd=tmp_path
    ).decode()
    assert "stablehlo" not in small and "func.func" not in small
