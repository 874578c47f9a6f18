"""Flags besides the steps: which executables, how strictly, what is kept."""

import re

import pytest
from preprocess_runs import (
    drop_locations,
    fail,
    run,
    step,
    succeed,
    write_filter,
    write_program,
    write_tool,
)

CHANGE = step("sed s/subtract/add/")


@pytest.mark.parametrize(
    "asked, isDone",
    [("cpu*", True), ("cpu:host", True), ("x,cpu:*", True), ("cuda*", False)],
)
def test_target(m2, asked, isDone):
    text = succeed(m2, CHANGE, "--target=cpu:host", f"--preprocess-target={asked}")
    assert ("subtract" not in text) == isDone


def test_target_has_wildcards(m2):
    fail(m2, "pre-usage", CHANGE, "--preprocess-target=[", status=2)


def test_no_process_for_others(m2):
    flags = ["--preprocess-only=none,*_9"]
    assert succeed(m2, step("sh -c 'exit 1'"), *flags) == succeed(m2)


def test_check_warns(m2, tmp_path, temporary):
    """What puts no memory at risk may pass; the rest may not."""
    size = "scratch 0 {workgroup_size = array<i64: 99999, 99999, 1>}"
    tool = write_filter(tmp_path, f"text = text.replace('scratch 0', '{size}')")
    said = fail(m2, "pre-contract", step(tool), "--preprocess-only=main_0", temporary=temporary)
    assert "must be at most 4294967295 in all: was none, is [99999, 99999, 1]" in said
    result = run(m2, step(tool), "--preprocess-check=warn")
    assert result.returncode == 0
    assert re.findall(rb"warning: \[([a-z-]+)\]", result.stderr) == [b"pre-contract"] * 2
    assert b"99999, 99999" in result.stdout
    pipeline = step("builtin.module(cse)")
    result = run(m2, step(tool), pipeline, "--preprocess-check=warn")
    assert result.stderr.count(b"step 2, 'builtin.module(cse)'") == 2
    fail(
        m2,
        "pre-contract",
        step("sed s/scratch.0/scratch+64/;s/+/\\ /"),
        "--preprocess-check=warn",
        "--preprocess-only=main_0",
        temporary=temporary,
    )


def write_counter(folder):
    return write_tool(
        folder,
        "counter",
        f"#!/bin/sh\necho $X >> {folder}/log\ncase $ALULA_EXECUTABLE in\n"
        "main_0) sed s/subtract/add/;; *) exit 86;; esac\n",
    )


def test_cache(m2, tmp_path, monkeypatch):
    tool, folder, log = write_counter(tmp_path), tmp_path / "cache", tmp_path / "log"
    flags = [step(tool), f"--preprocess-cache={folder}", "--preprocess-cache-env=X"]

    def count():
        return len(log.read_text().splitlines())

    text = succeed(m2, *flags)
    assert count() == 2 and len(list(folder.iterdir())) == 2
    assert text == succeed(m2, *flags) and count() == 2
    # Another value of a variable that is named, another tool, other words, another input.
    monkeypatch.setenv("X", "1")
    assert text == succeed(m2, *flags) and count() == 4
    monkeypatch.setenv("Y", "1")
    assert text == succeed(m2, *flags) and count() == 4
    with tool.open("a") as file:
        file.write("# another\n")
    assert text == succeed(m2, *flags) and count() == 6
    assert text == succeed(m2, step(f"{tool} x"), *flags[1:]) and count() == 8
    succeed(m2, CHANGE, *flags) and count() == 10
    # Damage is no answer.
    for file in folder.iterdir():
        file.write_bytes(file.read_bytes()[:-1] + b"?")
    before = count()
    assert text == succeed(m2, *flags) and count() == before + 2


def test_failures_are_not_cached(m2, tmp_path, temporary):
    folder = tmp_path / "cache"
    flags = [f"--preprocess-cache={folder}", "--preprocess-keep-going"]
    for tag, command in [("pre-exit", "sh -c 'exit 3'"), ("pre-parse", "echo hello")]:
        fail(m2, tag, step(command), *flags, count=2, temporary=temporary)
        assert not folder.exists() or not list(folder.iterdir())


def test_verify_run(m2, tmp_path, temporary):
    """The same numbers, or an error that says which differ."""
    verify = "--preprocess-verify=run"
    same = write_filter(
        tmp_path,
        "text = re.sub(r'(stablehlo.add) (%\\w+), (%\\w+)', r'\\1 \\3, \\2', text)",
        "same",
    )
    assert "stablehlo.add" in succeed(m2, step(same), verify)
    result = run(m2, CHANGE, verify, temporary=temporary)
    said = result.stderr.decode()
    assert result.returncode == 1 and result.stdout == b""
    assert "error: [pre-run] @main_0: must compute what it did: result 0 on random numbers" in said


def test_verify_run_of_unknown_sizes(tmp_path):
    program = tmp_path / "p.mlir"
    program.write_text("""func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.subtract %a, %a : tensor<?xf32>
  return %0 : tensor<?xf32>
}""")
    result = run(program, CHANGE, "--preprocess-verify=run")
    assert result.returncode == 0
    assert b"can't be compared: no call has sizes that are known" in result.stderr


def test_again(m2, tmp_path):
    """Going on from a dump does the steps no second time, unless that is asked for."""
    log = tmp_path / "log"
    changing = write_tool(tmp_path, "change", f"#!/bin/sh\necho x >> {log}\nsed s/subtract/add/\n")
    skipping = write_tool(tmp_path, "skip", f"#!/bin/sh\necho x >> {log}\nexit 86\n")
    dump, artifact = tmp_path / "dump.mlir", tmp_path / "out"
    for tool in (changing, skipping):
        log.write_text("")
        succeed(m2, step(tool), "-o", dump)
        assert len(log.read_text()) == 4
        succeed(dump, "-o", artifact, until=None)
        assert len(log.read_text()) == 4
        # Steps that have changed nothing have left no trace.
        flags = [] if tool == changing else [step(tool)]
        succeed(dump, *flags, "--preprocess-again", "-o", artifact, until=None)
        assert len(log.read_text()) == 8


def test_one_attribute_a_line(tmp_path):
    """What a tool that knows lines gets: only the shell's parts, each in a line."""
    keep = tmp_path / "kept"
    succeed(write_program(tmp_path, 1), step("cat"), f"--preprocess-keep={keep}")
    text = drop_locations((keep / "1-main_0/stdin").read_text())
    assert text.startswith("""module attributes {
  dispatch.compiler = "alula 0.1.0",
  dispatch.module = "",
  dispatch.protocol = 1 : i64
} {
  dispatch.executable @main_0 {
    dispatch.entry @main_0
      bindings([#dispatch<access read>, #dispatch<access read>, #dispatch<access write>])
      workgroups [1, 1, 1]
      scratch 0
""")


def test_one_attribute_a_line_of_others(tmp_path):
    """Attributes of tools too, whatever is in them, and it reads as the same."""
    keep = tmp_path / "kept"
    attributes = 'a.b = "} , {\\\\22", a.c = {x = 1 : i64, y = (i32) -> i64}, a.d'
    tool = write_filter(
        tmp_path,
        f"text = text.replace('scratch 0', '''scratch 0 {{{attributes}}}''')\n"
        "text = text.replace('executable @main_0', 'executable @main_0 attributes {a.e = 1 : i8}')",
    )
    program = write_program(tmp_path, 1)
    flags = [step(tool), step("cat"), f"--preprocess-keep={keep}"]
    text = succeed(program, *flags)
    shown = (keep / "2-main_0/stdin").read_text()
    assert (
        """      {
        a.b = "} , {\\22",
        a.c = {x = 1 : i64, y = (i32) -> i64},
        a.d
      }
"""
        in shown
    )
    assert "dispatch.executable @main_0 attributes {\n    a.e = 1 : i8\n  } {\n" in shown
    assert text == succeed(program, step(tool))
    assert "a.d" in text
