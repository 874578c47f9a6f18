"""H12 to H15, H22: several at once, and what they do with their pipes."""

import os
import re
import subprocess
from pathlib import Path

from preprocess_runs import (
    fail,
    step,
    succeed,
    write_filter,
    write_logger,
    write_program,
    write_tool,
)
from support.tool_runs import BIN


def test_h12_jobs(tmp_path):
    program = write_program(tmp_path, 40)
    succeed(program, step(write_logger(tmp_path)), "--preprocess-jobs=3")
    alive, seen = 0, []
    for line in (tmp_path / "log").read_text().split():
        alive += 1 if line == "+" else -1
        seen.append(alive)
    assert max(seen) == 3 and seen[-1] == 0


def test_h13_same_bytes(tmp_path):
    """A tool and passes, however many at once."""
    program = write_program(tmp_path, 40)
    results = {}
    for name, steps in {
        "tool": [step(write_logger(tmp_path))],
        "passes": [step("builtin.module(canonicalize,cse)")],
        "both": [step(write_logger(tmp_path)), step("builtin.module(canonicalize,cse)")],
    }.items():
        results[name] = set()
        for flags in (
            ["--preprocess-jobs=1"],
            ["--preprocess-jobs=4"],
            ["--preprocess-jobs=16"],
            ["--mlir-disable-threading"],
        ):
            output = tmp_path / "out"
            succeed(program, *steps, *flags, "-o", output, until=None)
            results[name].add(output.read_bytes())
    assert [len(each) for each in results.values()] == [1, 1, 1]


def count_alive(log):
    """How many there were after each line of the log."""
    alive, seen = 0, []
    for line in log.read_text().splitlines():
        alive += 1 if line.startswith("begin") else -1
        seen.append(alive)
    return seen


def test_h12_jobs_of_passes(tmp_path):
    program, log = write_program(tmp_path, 12), tmp_path / "passes"
    steps = [step(f"builtin.module(test-preprocess{{log={log} rest=100}})")]
    for flags, most in (
        (["--preprocess-jobs=3"], 3),
        (["--preprocess-jobs=1"], 1),
        (["--mlir-disable-threading"], 1),
        (["--preprocess-jobs=30"], 12),
    ):
        log.write_text("")
        succeed(program, *steps, *flags)
        seen = count_alive(log)
        assert max(seen) == most and len(seen) == 24 and seen[-1] == 0, flags
        if most == 1:
            order = log.read_text().split()[1::4]
            assert order == [f"main_{i}" for i in range(12)]


def test_h22_passes_fail_the_same_way(tmp_path, temporary):
    """The first that fails is reported, whatever else has failed by then."""
    program, log = write_program(tmp_path, 8), tmp_path / "passes"
    said = set()
    for jobs in (1, 2, 8):
        for _ in range(3):
            log.write_text("")
            passes = ",".join(f"test-preprocess{{fail=main_{i} log={log} rest=20}}" for i in (5, 2))
            flags = [step(f"builtin.module({passes})"), f"--preprocess-jobs={jobs}"]
            text = fail(program, "pre-pipeline", *flags, temporary=temporary)
            said.add(re.sub(r"is in \S+", "is in FOLDER", text))
            if jobs == 1:
                assert "main_3" not in log.read_text()
    (text,) = said
    assert "[pre-pipeline] @main_2, step 1" in text and "test-preprocess: @main_2 fails" in text
    flags.append("--preprocess-keep-going")
    text = fail(program, "pre-pipeline", *flags, count=2, temporary=temporary)
    assert text.index("@main_2, step 1") < text.index("@main_5, step 1")
    # alula-opt says the same of what is left behind.
    folders = [Path(each) for each in re.findall(r"what it got and gave is in (\S+?)\n", text)]
    assert len(folders) == 2
    environment = dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}")
    for i, folder in zip((2, 5), folders):
        assert f"dispatch.executable @main_{i} " in (folder / "stdin").read_text()
        again = subprocess.run([folder / "rerun.sh"], capture_output=True, env=environment)
        assert again.returncode == 1 and f"@main_{i} fails".encode() in again.stderr


def test_h14_input_is_ignored(m2, tmp_path):
    keep = tmp_path / "kept"
    succeed(m2, step("cat"), f"--preprocess-keep={keep}", "--preprocess-only=main_0")
    reply = tmp_path / "reply"
    reply.write_text((keep / "1-main_0/stdin").read_text().replace("subtract", "add"))
    text = succeed(m2, step(f"cat {reply}"), "--preprocess-only=main_0")
    assert text.count("subtract") == 1


def test_h14_large_constants_are_ignored(m2, tmp_path):
    """64 MiB more than any pipe holds."""
    keep = tmp_path / "kept"
    only = "--preprocess-only=main_0"
    succeed(m2, step("cat"), f"--preprocess-keep={keep}", only)
    reply = tmp_path / "reply"
    reply.write_text((keep / "1-main_0/stdin").read_text().replace("subtract", "add"))
    add = write_filter(
        tmp_path,
        "text = text.replace('scratch 0', 'scratch 0 "
        "{x.y = dense_resource<large> : tensor<16777216xf32>}')\n"
        "data = '0x04000000' + '0000803F' * (1 << 24)\n"
        "text += '{-# dialect_resources: {builtin: {large: \"' + data + '\"}} #-}'",
        "add_large",
    )
    count = write_tool(
        tmp_path, "count", f"#!/bin/sh\ntee {tmp_path}/seen | wc -c >&2\ncat {reply}\n"
    )
    for ignore in (f"cat {reply}", f"sh -c 'exec <&-; cat {reply}'", str(count)):
        text = succeed(m2, step(add), step(ignore), only)
        assert text.count("subtract") == 1 and "dense_resource" not in text
        if ignore == str(count):
            assert (tmp_path / "seen").stat().st_size > 64 << 20


def test_h15_errors_first(m2):
    command = "sh -c 'head -c 1048576 /dev/zero >&2; cat'"
    assert succeed(m2, step(command)) == succeed(m2)


# A name, a change of what the tool gets, and what is said of it.
