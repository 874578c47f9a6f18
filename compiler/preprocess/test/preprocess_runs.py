"""Programs with kernels, and alula-compile with tools, for the tests beside this."""

import re
import sys
import time
from pathlib import Path

from support.tool_runs import check_failure, check_success, get_said, run_tool

SIZE = "256x256xf32"
# Seconds that nothing takes, on a slow machine that does much else either.
LONG = 600


def write_program(folder, count):
    """A program with so many kernels, each with a product, a sum of its own
    and what may become the same sum. Equal ones would be one: a note makes them
    differ."""
    lines = []
    value = "%a"
    for i in range(count):
        lines += [
            f"%p{i} = stablehlo.dot {value}, %b : (tensor<{SIZE}>, tensor<{SIZE}>) -> tensor<{SIZE}>",
            f"%s{i} = stablehlo.add %p{i}, %b : tensor<{SIZE}>",
            f"%d{i} = stablehlo.subtract %p{i}, %b : tensor<{SIZE}>",
            f"%m{i} = stablehlo.maximum %s{i}, %d{i} {{note = {i}}} : tensor<{SIZE}>",
        ]
        value = f"%m{i}"
    path = folder / f"m{count}.mlir"
    path.write_text(
        f"func.func @main(%a: tensor<{SIZE}>, %b: tensor<{SIZE}>) -> tensor<{SIZE}> {{\n"
        + "\n".join(lines)
        + f"\nreturn {value} : tensor<{SIZE}>\n}}\n"
    )
    return path


def run(program, *flags, until="dispatch", temporary=None):
    environment = {"TMPDIR": str(temporary)} if temporary else {}
    until = [f"--compile-to={until}"] if until else []
    return run_tool("alula-compile", program, *until, *flags, environment=environment)


def step(text):
    return f"--preprocess-executables-with={text}"


def succeed(program, *flags, **options):
    return drop_record(check_success(run(program, *flags, **options)).decode())


def drop_record(text):
    """A program without what is recorded of the flags that made it."""
    return re.sub(r"(?m)^//.*\n|^module attributes \{alula.*\n", "", text)


def drop_locations(text):
    """Tools may lose them."""
    return re.sub(r"(?m) loc\((?:[^()]|\([^()]*\))*\)|^#loc.*\n", "", text)


def tags(result):
    return re.findall(r"error: \[([a-z-]+)\]", get_said(result))


def fail(program, tag, *flags, status=1, count=1, **options):
    result = run(program, *flags, **options)
    said = check_failure(result, status)
    assert tags(result) == [tag] * count, said
    assert result.stdout == b""
    return said


def write_tool(folder, name, text):
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)
    return path


def count_processes(word):
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        count += words[:2] == [b"sleep", word.encode()]
    return count


def is_gone(word):
    until = time.monotonic() + LONG
    while time.monotonic() < until:
        if not count_processes(word):
            return True
        time.sleep(0.02)
    return False


def write_logger(folder):
    return write_tool(
        folder,
        "logger",
        "#!/bin/sh\n" + f"echo + >> {folder}/log\nsleep 0.1\n"
        "sed s/subtract/add/\n" + f"echo - >> {folder}/log\n",
    )


def write_filter(folder, body, name="change"):
    """A tool that changes `text`, what it gets, by lines of Python."""
    return write_tool(
        folder,
        name,
        f"#!{sys.executable}\nimport re, sys\ntext = sys.stdin.read()\n{body}\nprint(text)\n",
    )
