"""H8 to H11, H21 to H23: how tools end."""

import os
import re
import signal
import subprocess
import time

import pytest
from preprocess_runs import (
    LONG,
    count_processes,
    fail,
    is_gone,
    run,
    step,
    succeed,
    write_program,
    write_tool,
)
from support.tool_runs import BIN

EMPTY = """dispatch.executable @{} {{
  dispatch.entry @e bindings([]) workgroups [1, 1, 1] scratch 0
  builtin.module {{ }}
}}
"""


@pytest.mark.parametrize(
    "script, tag, text",
    [
        ("exit 3", "pre-exit", "exited with status 3"),
        ("exit 126", "pre-exit", "exited with status 126"),
        ("exit 127", "pre-exit", "exited with status 127"),
        ("ulimit -c 0; kill -SEGV $$", "pre-signal", "signal 11, SIGSEGV"),
        ("true", "pre-empty", "it has printed nothing"),
        ("echo; echo ' '", "pre-empty", "it has printed nothing"),
        ("echo hello", "pre-parse", "line 1, column 1 of its output"),
        ("echo Usage: x", "pre-parse", "it seems to print its log"),
        ("echo module '{ }'", "pre-shape", "must hold one executable: holds 0"),
        ("cat reply; cat reply2", "pre-shape", "must hold one executable: holds 2"),
        (
            "echo 'ml_program.global private @x(dense<1> : tensor<1xi32>) : tensor<1xi32>'; cat reply",
            "pre-shape",
            "must hold an executable alone: holds ml_program.global",
        ),
        ("cat reply", "pre-contract", "must keep its name: was @main_0, is @d9"),
        ("sed 's/protocol = 1/protocol = 2/'", "pre-protocol", "it speaks protocol 2, we 1"),
        ("sed 's/stablehlo.add %[^ ]*/foo.add %0/'", "pre-unknown-dialect", "--load-plugin"),
        ("sed 's/maximum/dot/'", "pre-parse", "there:"),
    ],
)
def test_h08_ends(m2, tmp_path, temporary, script, tag, text):
    (tmp_path / "reply").write_text(EMPTY.format("d9"))
    (tmp_path / "reply2").write_text(EMPTY.format("d8"))
    tool = write_tool(tmp_path, "tool", f"#!/bin/sh\ncd {tmp_path}\necho words >&2\n{script}\n")
    said = fail(m2, tag, step(tool), "--preprocess-only=main_0", temporary=temporary)
    assert text in said and "it said:\nwords" in said
    (kept,) = temporary.iterdir()
    assert f"what it got and gave is in {kept}" in said
    assert (kept / "command.json").exists()
    again = subprocess.run([kept / "rerun.sh"], capture_output=True)
    assert again.stdout == (kept / "stdout").read_bytes()
    assert again.stderr == b"words\n"
    expected = {
        "pre-exit": int(script[5:] or 0) if script.startswith("exit") else 0,
        "pre-signal": -11,
    }
    assert again.returncode == expected.get(tag, 0)


def test_h09_each_has_its_time_limit(tmp_path, temporary):
    program = write_program(tmp_path, 8)
    flags = ["--preprocess-timeout=1", "--preprocess-jobs=8", "--preprocess-keep-going"]
    begin = time.monotonic()
    said = fail(program, "pre-timeout", step("sleep 98705"), *flags, count=8, temporary=temporary)
    assert time.monotonic() - begin < LONG
    assert "its limit is 1.00 s" in said
    names = re.findall(r"@(main_\d)", said)
    assert names == [f"main_{i}" for i in range(8)]


def test_h10_grandchildren_end(m2, temporary):
    fail(
        m2,
        "pre-timeout",
        step("sh -c 'sleep 98701 & sleep 98701'"),
        "--preprocess-timeout=1",
        "--preprocess-jobs=1",
        temporary=temporary,
    )
    assert is_gone("98701")


def test_h11_grandchild_holds_output(m2):
    begin = time.monotonic()
    assert succeed(m2, step("sh -c 'cat; sleep 98702 &'")) == succeed(m2)
    assert time.monotonic() - begin < LONG
    assert is_gone("98702")


def test_h21_not_for_me(m2, temporary):
    text = succeed(m2, step("sh -c 'echo garbage; exit 86'"), temporary=temporary)
    assert text == succeed(m2)
    assert not list(temporary.iterdir())
    skipped = run(m2, step("sh -c 'exit 86'")).stdout
    assert skipped and skipped == run(m2).stdout


def test_h22_all_or_nothing(tmp_path, temporary):
    program = write_program(tmp_path, 8)
    output = tmp_path / "out"
    script = "if [ {name} = main_3 ]; then exit 1; fi; exec sleep 98703"
    begin = time.monotonic()
    fail(
        program,
        "pre-exit",
        step(f'sh -c "{script}"'),
        "--preprocess-jobs=8",
        "-o",
        output,
        temporary=temporary,
    )
    assert time.monotonic() - begin < LONG
    assert not output.exists()
    assert is_gone("98703")
    assert len(list(temporary.iterdir())) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_h23_interrupted(tmp_path, temporary, number):
    program = write_program(tmp_path, 8)
    output = tmp_path / "out"
    process = subprocess.Popen(
        [BIN / "alula-compile", program, step("sleep 98704"), "--preprocess-jobs=8", "-o", output],
        env=dict(os.environ, TMPDIR=str(temporary)),
        stderr=subprocess.PIPE,
    )
    until = time.monotonic() + LONG
    while count_processes("98704") < 8 and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(number)
    _, said = process.communicate(timeout=LONG)
    assert process.returncode == 128 + number
    assert said == b"alula-compile: error: interrupted\n"
    assert is_gone("98704")
    assert not output.exists() and not list(temporary.iterdir())


def test_too_much_output(m2, temporary):
    said = fail(
        m2,
        "pre-output-limit",
        step("yes"),
        "--preprocess-max-output=1000",
        "--preprocess-jobs=1",
        temporary=temporary,
    )
    assert "has printed more than 1000 bytes" in said


def test_tool_without_interpreter(m2, tmp_path, temporary):
    tool = write_tool(tmp_path, "tool", "no program\n")
    said = fail(m2, "pre-spawn", step(tool), "--preprocess-jobs=1", temporary=temporary)
    assert "can't be started: Exec format error" in said
