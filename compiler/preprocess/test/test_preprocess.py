"""The preprocess room from outside, check by check: H1 to H25.

What is about one process alone is in tool_process_test.cpp too.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

ROOT = Path(__file__).resolve().parents[3]
BIN = ROOT / os.environ.get("ALULA_BUILD", "build") / "bin"
SIZE = "256x256xf32"


def write_program(folder, count):
    """A program with so many kernels, each with a product, a sum of its own
    and what may become the same sum."""
    lines = []
    value = "%a"
    for i in range(count):
        lines += [
            f"%p{i} = stablehlo.dot {value}, %b : (tensor<{SIZE}>, tensor<{SIZE}>) -> tensor<{SIZE}>",
            f"%s{i} = stablehlo.add %p{i}, %b : tensor<{SIZE}>",
            f"%d{i} = stablehlo.subtract %p{i}, %b : tensor<{SIZE}>",
            f"%m{i} = stablehlo.maximum %s{i}, %d{i} : tensor<{SIZE}>",
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
    environment = dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}")
    if temporary:
        environment["TMPDIR"] = str(temporary)
    until = [f"--until={until}"] if until else []
    return subprocess.run(
        [BIN / "alula-compile", program, *until, *flags],
        capture_output=True,
        env=environment,
        timeout=120,
    )


def step(text):
    return f"--preprocess-executables-with={text}"


def succeed(program, *flags, **options):
    result = run(program, *flags, **options)
    assert result.returncode == 0, result.stderr.decode(errors="replace")
    return result.stdout.decode()


def tags(result):
    return re.findall(r"error: \[([a-z-]+)\]", result.stderr.decode(errors="replace"))


def fail(program, tag, *flags, status=1, count=1, **options):
    result = run(program, *flags, **options)
    assert result.returncode == status, result.stderr.decode(errors="replace")
    assert tags(result) == [tag] * count, result.stderr.decode(errors="replace")
    assert result.stdout == b""
    return result.stderr.decode(errors="replace")


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
    for _ in range(100):
        if not count_processes(word):
            return True
        time.sleep(0.02)
    return False


@pytest.fixture
def m2(tmp_path):
    return write_program(tmp_path, 2)


@pytest.fixture
def temporary(tmp_path):
    """Where runs have their folders."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


def test_fixture_has_a_kernel_for_each_product(tmp_path):
    for count in (2, 8):
        text = succeed(write_program(tmp_path, count))
        assert text.count("dispatch.executable") == count
        assert text.count("stablehlo.subtract") == count


@pytest.mark.parametrize("kind", ["text", "bytecode"])
def test_h1_cat_changes_nothing(m2, temporary, kind):
    plain = succeed(m2, "--mlir-print-debuginfo")
    flag = f"--preprocess-format={kind}"
    through = succeed(m2, step("cat"), flag, "--mlir-print-debuginfo", temporary=temporary)
    assert through == plain
    assert not list(temporary.iterdir())


def test_h2_pipeline_and_tool_agree(m2):
    same = step("sed s/subtract/add/")
    by_pipeline = succeed(m2, same, step("builtin.module(cse)"))
    by_tool = succeed(m2, same, step("alula-opt --cse"))
    assert by_pipeline == by_tool
    assert by_pipeline.count("stablehlo.add") == 2
    one = succeed(m2, step("sed s/subtract/add/"), "--preprocess-only=*_1")
    first, second = re.split(r"dispatch\.executable", one)[1:]
    assert "subtract" in first and "subtract" not in second


def test_h3_steps_in_order(m2):
    tool, passes = step("sed s/subtract/add/"), step("pipeline:builtin.module(cse)")
    assert succeed(m2, tool, passes).count("stablehlo.add") == 2
    assert succeed(m2, passes, tool).count("stablehlo.add") == 4


def test_h4_bytecode(m2, tmp_path):
    tool = write_tool(
        tmp_path,
        "check",
        "#!/bin/sh\nhead -c 4 > $ALULA_WORKDIR/magic\n"
        "printf 'ML\\357R' | cmp - $ALULA_WORKDIR/magic || exit 1\nexit 86\n",
    )
    same = step("sed s/subtract/add/")
    text = succeed(m2, step(tool), "--preprocess-format=bytecode")
    assert text == succeed(m2)
    assert succeed(m2, same, step("builtin.module(cse)")) == succeed(
        m2, same, step("alula-opt --cse")
    )


def test_h5_words(m2, tmp_path):
    tool = write_tool(
        tmp_path,
        "argv-dump",
        f"#!{sys.executable}\nimport sys\nprint(sys.argv[1:], file=sys.stderr)\nsys.exit(86)\n",
    )
    command = f"""{tool} '' 'a b' "c\\"d" e\\ f x;y"""
    result = run(m2, step(command), "--verbose")
    said = "['', 'a b', 'c\"d', 'e f', 'x;y']"
    assert result.stderr.decode(errors="replace") == f"[main_0] {said}\n[main_1] {said}\n"
    words = tmp_path / "words.txt"
    words.write_text(f"{tool}\n{{name}}\n a 'b\n")
    result = run(m2, step(f"@{words}"), "--verbose", "--preprocess-only=main_1")
    assert result.stderr.decode(errors="replace") == "[main_1] ['main_1', \" a 'b\"]\n"


@pytest.mark.parametrize(
    "flag, text",
    [
        (step("tool 'oops"), "quote at column 6 has no end"),
        (step(""), "command has no words"),
        (step("   "), "command has no words"),
        (step("builtin.module(cse"), "expected pass pipeline to be wrapped"),
        (step("builtin.module(no-such-pass)"), "no-such-pass"),
        (
            step("pipeline:func.func(cse)"),
            "a pipeline must be one of builtin.module: is one of func.func",
        ),
        (step("cat {nmae}"), "no such placeholder: '{nmae}'"),
        (step("@/no/such/file"), "can't read /no/such/file: No such file"),
        ("--preprocess-jobs=x", "--preprocess-jobs: must be a number: is 'x'"),
        ("--preprocess-jobs=-1", "--preprocess-jobs: must be a number: is '-1'"),
        ("--preprocess-timeout=x", "--preprocess-timeout: must be a number: is 'x'"),
        ("--preprocess-timeout=-1", "a time limit must be from 0 to 1e9 seconds"),
        ("--preprocess-timeout=nan", "a time limit must be from 0 to 1e9 seconds"),
        ("--preprocess-max-output=x", "--preprocess-max-output: must be a number"),
        ("--preprocess-only=[", "pre-usage"),
    ],
)
def test_h6_usage(m2, tmp_path, flag, text):
    output = tmp_path / "out"
    assert text in fail(m2, "pre-usage", flag, "-o", output, status=2)
    assert not output.exists()


def test_h7_no_tool(m2, tmp_path):
    said = fail(m2, "pre-not-found", step("no-such-tool"), status=2)
    assert "there is no 'no-such-tool' on the PATH" in said
    missing = tmp_path / "missing"
    assert f"there is no {missing}" in fail(m2, "pre-not-found", step(missing), status=2)
    notes = tmp_path / "notes.txt"
    notes.write_text("x")
    for path in (notes, tmp_path):
        said = fail(m2, "pre-not-executable", step(path), status=2)
        assert f"{path} can't be executed" in said


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
def test_h8_ends(m2, tmp_path, temporary, script, tag, text):
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


def test_h9_each_has_its_time_limit(tmp_path, temporary):
    program = write_program(tmp_path, 8)
    flags = ["--preprocess-timeout=1", "--preprocess-jobs=8", "--preprocess-keep-going"]
    begin = time.monotonic()
    said = fail(program, "pre-timeout", step("sleep 60"), *flags, count=8, temporary=temporary)
    assert time.monotonic() - begin < 6
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
    assert time.monotonic() - begin < 4
    assert is_gone("98702")


def write_logger(folder):
    return write_tool(
        folder,
        "logger",
        "#!/bin/sh\n" + f"echo + >> {folder}/log\nsleep 0.1\n"
        "sed s/subtract/add/\n" + f"echo - >> {folder}/log\n",
    )


def test_h12_jobs(tmp_path):
    program = write_program(tmp_path, 40)
    succeed(program, step(write_logger(tmp_path)), "--preprocess-jobs=3")
    alive, seen = 0, []
    for line in (tmp_path / "log").read_text().split():
        alive += 1 if line == "+" else -1
        seen.append(alive)
    assert max(seen) == 3 and seen[-1] == 0


def test_h13_same_bytes(tmp_path):
    program = write_program(tmp_path, 12)
    results = set()
    for flags in (["--preprocess-jobs=1"], ["--preprocess-jobs=4"], ["--preprocess-jobs=16"]):
        output = tmp_path / "out"
        run_flags = [step(write_logger(tmp_path)), *flags, "-o", output]
        succeed(program, *run_flags, until=None)
        results.add(output.read_bytes())
    assert len(results) == 1


def test_h14_input_is_ignored(m2, tmp_path):
    keep = tmp_path / "kept"
    succeed(m2, step("cat"), f"--preprocess-keep={keep}", "--preprocess-only=main_0")
    reply = tmp_path / "reply"
    reply.write_text((keep / "1-main_0/stdin").read_text().replace("subtract", "add"))
    text = succeed(m2, step(f"cat {reply}"), "--preprocess-only=main_0")
    assert text.count("subtract") == 1


def test_h15_errors_first(m2):
    command = "sh -c 'head -c 1048576 /dev/zero >&2; cat'"
    assert succeed(m2, step(command)) == succeed(m2)


# A name, a change of what the tool gets, and what is said of it.
CHANGES = {
    "bindings": (r"\[#dispatch<access read>, ", "[", "must keep its bindings: was"),
    "name": (r"entry @main_0", "entry @other", "were @main_0, are @other"),
    "ordinal": (
        r"(dispatch.entry @main_0)(.*)",
        r"dispatch.entry @z\2\n\1\2",
        "were @main_0, are @z, @main_0",
    ),
    "constants": (r" workgroups", " constants 1 workgroups", "must keep its constant_count: was"),
    "added": (
        r"(dispatch.entry @main_0)(.*)",
        r"\1\2\ndispatch.entry @z\2",
        "were @main_0, are @main_0, @z",
    ),
    "removed": (r"dispatch.entry @main_0.*", "", "were @main_0, are "),
    "zero": (
        r"workgroups \[1, 1, 1\]",
        "workgroups [0, 1, 1]",
        "must keep its workgroups: was array<i64: 1, 1, 1>, is array<i64: 0, 1, 1>",
    ),
    "scratch": (
        r"scratch 0",
        "scratch 64",
        "must keep its scratch_bytes: was 0 : i64, is 64 : i64",
    ),
    "function": (
        r"func.func @main_0",
        "func.func @other",
        "the function of entry @main_0 must keep its type: was (",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_h18_contract(m2, tmp_path, temporary, change):
    pattern, replacement, text = CHANGES[change]
    tool = write_tool(
        tmp_path,
        "change",
        f"#!{sys.executable}\nimport re, sys\n"
        f"print(re.sub({pattern!r}, {replacement!r}, sys.stdin.read()))\n",
    )
    said = fail(m2, "pre-contract", step(tool), "--preprocess-only=main_0", temporary=temporary)
    assert text in said


def test_h18_symbols_outside(m2, tmp_path, temporary):
    tool = write_tool(
        tmp_path, "change", "#!/bin/sh\nsed 's/workgroups.*scratch 0/& {x.y = @elsewhere}/'\n"
    )
    said = fail(m2, "pre-contract", step(tool), "--preprocess-only=main_0", temporary=temporary)
    assert "must not use what is outside of it: uses @elsewhere" in said


def test_verifier_is_asked(m2, temporary):
    said = fail(
        m2,
        "pre-verify",
        step(r"sed -E 's/return %.* loc/return loc/'"),
        "--preprocess-only=main_0",
        temporary=temporary,
    )
    assert "has 0 operands, but enclosing function (@main_0) returns 1" in said


def test_pass_fails(m2):
    said = fail(
        m2, "pre-pipeline", step("builtin.module(dispatch.executable(kernel-verify-output))")
    )
    assert "step 1, 'builtin.module(dispatch.executable(kernel-verify-output))': " in said


def test_pipeline_breaks_contract(m2):
    said = fail(
        m2,
        "pre-contract",
        step("builtin.module(dispatch.executable(kernel-convert-stablehlo-to-loops))"),
    )
    assert "the function of entry @main_0 must keep its type" in said


RESOURCE = "0x08000000" + "".join(f"0{i}00000000000000" for i in (1, 2, 3))


def test_h16_data_of_constants(m2, tmp_path):
    tool = write_tool(
        tmp_path,
        "change",
        "#!/bin/sh\nsed 's/workgroups.*scratch 0/& "
        "{x.y = dense_resource<blob1> : tensor<3xi64>}/'\n"
        f"echo '{{-# dialect_resources: {{builtin: {{blob1: \"{RESOURCE}\"}}}} #-}}'\n",
    )
    for second in ("cat", "alula-opt", "sed s/subtract/add/"):
        text = succeed(m2, step(tool), step(second), "--preprocess-only=main_0")
        assert f': "{RESOURCE}"' in text


def test_h17_data_is_missing(m2, tmp_path, temporary):
    tool = write_tool(
        tmp_path,
        "change",
        "#!/bin/sh\nsed 's/workgroups.*scratch 0/& {x.y = dense_resource<blob1> : tensor<3xi64>}/'\n",
    )
    said = fail(m2, "pre-contract", step(tool), "--preprocess-only=main_0", temporary=temporary)
    assert "dense_resource<blob1> has none" in said


def test_h21_not_for_me(m2, temporary):
    text = succeed(m2, step("sh -c 'echo garbage; exit 86'"), temporary=temporary)
    assert text == succeed(m2)
    assert not list(temporary.iterdir())


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
    assert time.monotonic() - begin < 10
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
    for _ in range(500):
        if count_processes("98704") == 8:
            break
        time.sleep(0.02)
    process.send_signal(number)
    _, said = process.communicate(timeout=10)
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


def test_keep(m2, tmp_path):
    keep = tmp_path / "kept"
    succeed(m2, step("cat"), f"--preprocess-keep={keep}")
    assert sorted(each.name for each in keep.iterdir()) == ["1-main_0", "1-main_1"]
    text = (keep / "1-main_0/stdin").read_text()
    assert "dispatch.protocol = 1 : i64" in text and "dispatch.executable @main_0 {" in text


def test_dump_before_and_after(m2, tmp_path):
    folder = tmp_path / "dumps"
    succeed(m2, step("sed s/subtract/add/"), f"--dump-dir={folder}")
    assert "subtract" in (folder / "04-dispatch.source.mlir").read_text()
    assert "subtract" not in (folder / "04-dispatch.mlir").read_text()


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
        (b"ML\xefRxxxx", "pre-parse", "bytecode version"),
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
    text = succeed(m2, step(tool))
    assert text.count("stablehlo.add") == 4
    assert "call" not in text and "@h" not in text
    succeed(m2, step(tool), "-o", tmp_path / "out", until=None)
