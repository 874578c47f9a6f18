"""What every tool has: help, version, manual page, completion, hints, statuses."""

import os
import pty
import re
import select
import shutil
import subprocess
import time

import pytest
from support.tool_runs import BIN, ROOT, run_tool

RUNTIME = ["alula-run", "alula-inspect", "alula-bench"]
COMPILER = [
    "alula-compile",
    "alula-opt",
    "alula-interpret",
    "alula-compile-reduce",
    "alula-plugin-host",
]
TOOLS = [tool for tool in RUNTIME + COMPILER if (BIN / tool).exists()]
ADD = ROOT / "tools/compile/test/Inputs/return.mlir"


def say(tool, *words, status=0, **options):
    result = run_tool(tool, *words, text=True, **options)
    assert result.returncode == status, result.stderr
    return result.stderr if status else result.stdout


def get_completed(tool):
    """All options that completion knows, as spelled there."""
    script = say(tool, "--completion=bash")
    return re.search(r"compgen -W '([^']*)'", script)[1].split()


def test_every_installed_tool_is_here():
    named = set()
    for listing in (ROOT / "tools").glob("*/CMakeLists.txt"):
        named |= set(re.findall(r"alula_tool\((\S+)", listing.read_text()))
    assert named == set(RUNTIME + COMPILER)


@pytest.mark.parametrize("tool", RUNTIME)
def test_several_files(tool):
    assert "more than one file: 'a' and 'b'" in say(tool, "a", "b", status=2)


@pytest.mark.parametrize("tool", TOOLS)
def test_help(tool):
    text = say(tool, "--help")
    lines = text.splitlines()
    assert len(lines) <= 90
    assert max(map(len, lines)) <= 110
    assert text.startswith(f"usage: {tool} ")
    assert say(tool, "-h") == text
    assert "amdgpu" not in text and "mlir-elide" not in text
    # Every option that is told of anywhere is told of here, but passes.
    names = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", text))
    page = say(tool, "--help-man").replace("\\-", "-")
    for name in re.findall(r"^\.B (--?[\w-]+)", page, re.MULTILINE):
        assert name in names, name
    completed = {word.rstrip("=") for word in get_completed(tool)}
    rows = set(re.findall(r"^  (--?[a-z][\w-]*)", text, re.MULTILINE))
    assert rows - completed == set()


@pytest.mark.skipif("alula-compile" not in TOOLS, reason="no compiler")
def test_help_of_the_compiler_has_its_whole_table():
    header = (ROOT / "compiler/driver/flags.h").read_text()
    text = re.sub(r"^//.*", "", header.replace("\\\n", ""), flags=re.MULTILINE)
    rows = re.findall(r'FLAG\(\s*\w+,\s*"([\w-]+)",\s*\w+,\s*"[^"]*",\s*(\w+)', text)
    assert len(rows) > 60
    short, full = say("alula-compile", "--help"), say("alula-compile", "--help-all")
    for name, group in rows:
        dashed = ("--" if len(name) > 1 else "-") + name
        pattern = re.compile(rf"(?<![\w-]){dashed}(?![\w-])")
        assert bool(pattern.search(short)) == (group != "Hidden"), name
        assert bool(pattern.search(full)) == (group != "Hidden"), name
    assert "where objects that are no files" not in short
    assert "where objects that are no files" in full
    # LLVM's are where they were.
    hidden = say("alula-compile", "--help-hidden")
    assert "--mlir-print-ir-after-all" in hidden and len(hidden.splitlines()) > 300


@pytest.mark.parametrize("tool", TOOLS)
def test_version(tool):
    lines = say(tool, "--version").splitlines()
    version = re.search(r"project\(Alula VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert lines[0] == f"{tool} {version}"
    assert re.fullmatch(r"artifact format \d+\.\d+", lines[1])
    if tool in RUNTIME:
        assert lines[2:] == ["without LLVM"]
    else:
        assert re.fullmatch(r"LLVM 19\.\d+\.\d+", lines[2]) and len(lines) == 3


@pytest.mark.parametrize(
    "tool, word, text",
    [
        ("alula-run", "--lits", "unknown option '--lits': did you mean '--list'?"),
        (
            "alula-run",
            "--expected-output=1",
            "unknown option '--expected-output': did you mean '--expected_output'?",
        ),
        ("alula-run", "--exec=1", "unknown option '--exec': did you mean '--executable-plugin'?"),
        ("alula-run", "--nothing-like-it", "unknown option '--nothing-like-it'; --help lists them"),
        ("alula-run", "--list=3", "--list takes no value"),
        ("alula-run", "--input", "--input wants VALUE"),
        ("alula-run", "--threads=x", "--threads wants N, not 'x'"),
        (
            "alula-run",
            "--module=a.vmfb",
            "unknown option '--module', which is IREE's: the artifact is a word by itself: "
            "alula-run FILE.alula",
        ),
        (
            "alula-bench",
            "--task_topology_group_count=2",
            "unknown option '--task_topology_group_count', which is IREE's: say --threads=N",
        ),
        (
            "alula-bench",
            "--benchmark_repetition=2",
            "unknown option '--benchmark_repetition': did you mean '--benchmark_repetitions'?",
        ),
        ("alula-inspect", "--jsno", "unknown option '--jsno': did you mean '--json'?"),
        ("alula-compile", "--targte=x", "unknown option '--targte': did you mean '--target'?"),
        # LLVM has flags that are nearer.
        ("alula-compile", "--debug-onli", "unknown option '--debug-onli'; --help lists them"),
        (
            "alula-compile",
            "--iree-hal-target-backends=llvm-cpu",
            "unknown option '--iree-hal-target-backends', which is IREE's: say "
            "--target=cpu:portable, --target=cpu:host or another machine",
        ),
        (
            "alula-opt",
            "--dispatch-from-kernels",
            "unknown option '--dispatch-from-kernels': did you mean '--dispatch-form-kernels'?",
        ),
        ("alula-interpret", "--inptu=1", "unknown option '--inptu': did you mean '--input'?"),
        ("alula-compile-reduce", "--tets=x", "unknown option '--tets': did you mean '--test'?"),
    ],
)
def test_wrong_words(tool, word, text):
    if tool not in TOOLS:
        pytest.skip("no compiler")
    said = say(tool, word, status=2)
    assert said == f"{tool}: error: {text}\n"


def test_iree_hints_name_options_that_exist():
    """Whatever a hint says to say, the tools know."""
    source = (ROOT / "tools/options/iree.cpp").read_text().replace('"\n     "', "")
    compiled, run = source.split("runHints[]")
    for part, tool in ((compiled, "alula-compile"), (run, "alula-run")):
        if tool not in TOOLS:
            continue
        known = {word.rstrip("=") for word in get_completed(tool)}
        hinted = re.findall(r"say (--[\w-]+)", part)
        assert len(hinted) > 5
        assert set(hinted) <= known
        for name in re.findall(r'^    \{"([\w-]+)"', part, re.MULTILINE):
            assert f"'--{name}', which is IREE's" in say(tool, f"--{name}=x", status=2)


@pytest.mark.parametrize("tool", [t for t in TOOLS if t in RUNTIME + ["alula-interpret"]])
def test_parsers_know_every_row(tool):
    for word in get_completed(tool):
        if word in ("--help", "--version", "--completion="):
            continue
        name = word.rstrip("=")
        words = [name + "=" if word.endswith("=") else name]
        said = run_tool(tool, *words, "/no/such/file", text=True).stderr
        assert "unknown option" not in said, word


@pytest.mark.parametrize("tool", [t for t in TOOLS if t != "alula-plugin-host"])
def test_statuses(tool, tmp_path):
    broken = tmp_path / "broken"
    broken.write_text("this is nothing")
    needs = ["--test=/bin/true"] if tool == "alula-compile-reduce" else []
    say(tool, *needs, broken, status=1)
    say(tool, *needs, tmp_path / "none", status=3)
    say(tool, *needs, "--no-such-option", broken, status=2)


def test_status_of_values(tmp_path):
    artifact = tmp_path / "a.alula"
    sample = BIN.parent / "tests/alula-run-sample"
    subprocess.run([sample, artifact], check=True)
    run = [artifact, "--function=count"]
    say("alula-run", *run)
    assert "differ" in say("alula-run", *run, "--expected_output=i64=3", status=1)
    say("alula-run", *run, f"--output={tmp_path}/none/x.npy", status=3)
    say("alula-run", artifact, "--function=check", f"--input=@{tmp_path}/none.npy", status=3)
    say("alula-run", artifact, "--function=check", "--input=i64=x", status=1)
    say("alula-run", *run, f"--trace={tmp_path}/none/x", status=3)
    say("alula-inspect", artifact, "--extract=nope", status=1)


@pytest.mark.skipif("alula-compile" not in TOOLS, reason="no compiler")
def test_status_of_output(tmp_path):
    say("alula-compile", ADD, "-o", tmp_path / "none/x", status=3)
    say("alula-compile", ADD, "--compile-to=nowhere", "-o", tmp_path / "x", status=2)
    say("alula-compile", ADD, "--preprocess-format=x", "-o", tmp_path / "x", status=2)


def run_on_terminal(words, **options):
    """Everything that a command shows when stdout and stderr are a terminal."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [str(BIN / words[0]), *map(str, words[1:])],
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=follower,
        **options,
    )
    os.close(follower)
    shown = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(leader)
    return process.wait(timeout=600), shown.decode(errors="replace")


@pytest.mark.skipif("alula-compile" not in TOOLS, reason="no compiler")
def test_nothing_binary_to_a_terminal(tmp_path):
    status, shown = run_on_terminal(["alula-compile", ADD])
    assert status == 2
    assert shown.replace("\r", "") == (
        "alula-compile: error: the artifact is binary and standard output a terminal: "
        "-o FILE writes it\n"
    )
    status, shown = run_on_terminal(["alula-compile", ADD, "--compile-to=input"])
    assert status == 0 and "func.func" in shown
    for words in (
        ["alula-compile", ADD, "--compile-to=input", "--emit-bytecode"],
        ["alula-opt", ADD, "--emit=bytecode"],
        ["alula-opt", ADD, "--emit=portable"],
    ):
        status, shown = run_on_terminal(words)
        assert status == 2 and "-o FILE writes it" in shown and len(shown) < 200
    artifact = tmp_path / "a.alula"
    # A file, or a pipe, is none.
    say("alula-compile", ADD, "-o", artifact, "--target=cpu:x86-64-v2")
    piped = run_tool("alula-compile", ADD, "--target=cpu:x86-64-v2").stdout
    assert piped == artifact.read_bytes()
    status, shown = run_on_terminal(["alula-inspect", artifact, "--extract=x"])
    assert status == 2 and "is binary" in shown


def test_progress_of_a_long_run(tmp_path):
    artifact = tmp_path / "a.alula"
    subprocess.run([BIN.parent / "tests/alula-run-sample", artifact], check=True)
    words = ["alula-run", artifact, "--function=count", "--repeat=4000000000"]
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [str(BIN / words[0]), *map(str, words[1:])],
        stdout=subprocess.PIPE,
        stderr=follower,
    )
    os.close(follower)
    shown = b""
    deadline = time.monotonic() + 600
    while b"commands" not in shown and time.monotonic() < deadline:
        if select.select([leader], [], [], 1)[0]:
            shown += os.read(leader, 4096)
    process.kill()
    process.communicate()
    os.close(leader)
    assert re.search(rb"\r\x1b\[K\d+s call \d+ of 4000000000: \d+", shown), shown


@pytest.mark.parametrize("tool", TOOLS)
def test_manual_page(tool, tmp_path):
    page = say(tool, "--help-man")
    assert page.startswith(f".TH {tool.upper()}".replace("-", "\\-"))
    for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS"):
        assert f".SH {section}\n" in page
    if not shutil.which("groff"):
        pytest.skip("no groff")
    shown = subprocess.run(
        ["groff", "-man", "-Tascii", "-ww", "-P-cbou"], input=page, capture_output=True, text=True
    )
    assert shown.returncode == 0 and shown.stderr == ""
    assert "--completion=bash|zsh|fish" in shown.stdout


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_parse(tool, shell):
    script = say(tool, f"--completion={shell}")
    assert say(tool, "--completion", shell) == script
    for option in ("help", "version", "completion"):
        assert option in script
    if not shutil.which(shell):
        pytest.skip(f"no {shell}")
    checked = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True)
    assert checked.returncode == 0 and checked.stderr == ""


def test_completion_of_no_shell():
    said = say("alula-run", "--completion=tcsh", status=2)
    assert said == "alula-run: error: --completion wants bash|zsh|fish, not 'tcsh'\n"


class Shell:
    """An interactive bash that has a tool's completion, on a terminal of its own."""

    def __init__(self, tool, folder):
        (folder / "rc").write_text(f'source <("{BIN / tool}" --completion=bash)\nPS1="> "\n')
        self.leader, follower = pty.openpty()
        self.process = subprocess.Popen(
            ["bash", "--rcfile", folder / "rc", "-i"],
            stdin=follower,
            stdout=follower,
            stderr=follower,
            cwd=folder,
            env={"PATH": f"{folder}:{os.environ['PATH']}", "TERM": "dumb"},
            start_new_session=True,
        )
        os.close(follower)
        self.read_until(b"> ")

    def read_until(self, end):
        seen, deadline = b"", time.monotonic() + 600
        while not seen.endswith(end) and time.monotonic() < deadline:
            if select.select([self.leader], [], [], 0.1)[0]:
                seen += os.read(self.leader, 4096)
        assert seen.endswith(end), seen
        return seen

    def complete(self, line):
        """What the line becomes, seen by a command that prints its words."""
        os.write(self.leader, line.encode() + b"\t\n")
        seen = self.read_until(b"\n> ").decode()
        return re.search(r"<(.*)>", seen)[1]

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.leader)


@pytest.mark.parametrize(
    "tool, line, words",
    [
        ("alula-run", "--lis", "--list"),
        ("alula-run", "--expected_o", "--expected_output="),
        ("alula-run", "--device=n", "--device=null"),
        ("alula-run", "--device n", "--device|null"),
        ("alula-run", "--input=@val", "--input=@values.npy"),
        ("alula-run", "--input=2xf32=@val", "--input=2xf32=@values.npy"),
        ("alula-run", "--constants=fol", "--constants=folder/"),
        ("alula-run", "a b val", "a|b|values.npy"),
        ("alula-compile", "--compile-to=dis", "--compile-to=dispatch"),
        ("alula-compile", "--target=cpu:h", "--target=cpu:host"),
        ("alula-compile", "-o val", "-o|values.npy"),
        ("alula-opt", "--dispatch-form-k", "--dispatch-form-kernels"),
    ],
)
def test_bash_completes(tool, line, words, tmp_path):
    if tool not in TOOLS:
        pytest.skip("no compiler")
    # The command only shows what it was given.
    command = tmp_path / tool
    command.write_text('#!/bin/sh\nIFS="|"; echo "<$*>"\n')
    command.chmod(0o755)
    (tmp_path / "values.npy").touch()
    (tmp_path / "folder").mkdir()
    shell = Shell(tool, tmp_path)
    try:
        assert shell.complete(f"{tool} {line}") == words
    finally:
        shell.close()
