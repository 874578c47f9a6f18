"""Replies that are hardly programs."""

import os
import subprocess
import sys
from random import Random

import pytest
from preprocess_runs import (
    SIZE,
    drop_locations,
    fail,
    run,
    step,
    succeed,
    tags,
    write_program,
    write_tool,
)
from support.tool_runs import BIN

ENTRY = """dispatch.entry @main_0 bindings([#dispatch<access read>,
#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
"""


@pytest.mark.parametrize(
    "reply, tag, text",
    [
        ('"builtin.module"() : () -> ()', "pre-shape", "the module must have one block"),
        ('"builtin.module"() ({}) : () -> ()', "pre-shape", "the module must have one block"),
        ('"dispatch.executable"() : () -> ()', "pre-contract", "was @main_0, is @"),
        (
            "dispatch.executable @main_0 {" + ENTRY + "}",
            "pre-verify",
            "must hold one module: @main_0 holds 0",
        ),
        (
            "dispatch.executable @main_0 {" + ENTRY + '"builtin.module"() : () -> () }',
            "pre-verify",
            "requires one region",
        ),
        (
            "dispatch.executable @main_0 {" + ENTRY + "builtin.module { } }",
            "pre-contract",
            "is none",
        ),
        ("func.func private @x()", "pre-shape", "must hold one executable: holds 0"),
        ("module { builtin.module { } }", "pre-shape", "holds builtin.module"),
        ("dispatch.executable @main_0 { module { } }", "pre-parse", "line 1, column"),
        (b"ML\xefR", "pre-parse", ""),
        (b"ML\xefRxxxx", "pre-parse", "byte 4: container version"),
        (b"\x00\xff\x80", "pre-parse", ""),
    ],
)
def test_replies_that_are_not_verified(m2, tmp_path, temporary, reply, tag, text):
    path = tmp_path / "reply"
    path.write_bytes(reply if isinstance(reply, bytes) else reply.encode())
    said = fail(m2, tag, step(f"cat {path}"), "--preprocess-only=main_0", temporary=temporary)
    assert text in said


def test_damaged_replies(m2, tmp_path):
    """Damage of any kind is an error with a tag, or no damage. Of text: MLIR's reader
    of bytecode trusts the sizes that it reads."""
    keep = tmp_path / "kept"
    succeed(m2, step("cat"), f"--preprocess-keep={keep}")
    original = (keep / "1-main_0/stdin").read_bytes()
    random = Random(7)
    path = tmp_path / "reply"
    for _ in range(40):
        damaged = bytearray(original)
        for _ in range(random.choice((1, 1, 3))):
            at = random.randrange(len(damaged))
            end = at + random.choice((1, 1, 8, 200))
            damaged[at:end] = random.choice(
                (b"", b"0", bytes([random.randrange(256)]), damaged[:20])
            )
        path.write_bytes(damaged)
        result = run(m2, step(f"cat {path}"), "--preprocess-only=main_0", temporary=tmp_path)
        assert result.returncode in (0, 1), (bytes(damaged), result.stderr.decode(errors="replace"))
        assert (result.returncode == 0) == (tags(result) == []), result.stderr.decode(
            errors="replace"
        )


def test_damaged_bytecode(tmp_path, temporary):
    """160 at once, with little memory: MLIR's own reader would take what damage says it needs."""
    program = write_program(tmp_path, 160)
    tool = write_tool(
        tmp_path,
        "damage",
        f"""#!{sys.executable}
import os, random, sys
random.seed(os.environ["ALULA_EXECUTABLE"])
data = bytearray(sys.stdin.buffer.read())
for _ in range(random.choice((1, 1, 3))):
    at = random.randrange(4, len(data))
    end = at + random.choice((0, 1, 1, 8))
    data[at:end] = random.choice((b"", b"\\xff" * 9, bytes([random.randrange(256)])))
sys.stdout.buffer.write(data)
""",
    )
    flags = ["--preprocess-format=bytecode", "--preprocess-keep-going"]
    command = [BIN / "alula-compile", program, "--compile-to=dispatch", step(tool), *flags]
    result = subprocess.run(
        ["bash", "-c", 'ulimit -d 2000000; exec "$@"', "bash", *command],
        capture_output=True,
        env=dict(os.environ, TMPDIR=str(temporary)),
        timeout=2000,
        check=False,
    )
    assert result.returncode == 1, result.stderr[-2000:]
    found = tags(result)
    assert len(found) > 120 and result.stderr.count(b"error:") == len(found)
    assert set(found) <= {"pre-parse", "pre-verify", "pre-contract", "pre-shape", "pre-protocol"}


def test_private_functions_are_inlined(m2, tmp_path):
    tool = write_tool(
        tmp_path,
        "change",
        f"""#!{sys.executable}
import re, sys
text, type = sys.stdin.read(), "tensor<{SIZE}>"
text = re.sub(
    r"stablehlo.subtract (%\\w+, %\\w+) : ",
    rf"func.call @h(\\1) : ({{type}}, {{type}}) -> ", text)
print(text.replace("builtin.module {{", f"builtin.module {{{{ func.func private @h"
    f"(%a: {{type}}, %b: {{type}}) -> {{type}} {{{{ %x = stablehlo.add %a, %b : {{type}}\\n"
    f"return %x : {{type}} }}}}"))
""",
    )
    text = drop_locations(succeed(m2, step(tool)))
    assert text.count("stablehlo.add") == 4
    assert "call" not in text and "@h" not in text
    succeed(m2, step(tool), "-o", tmp_path / "out", until=None)
