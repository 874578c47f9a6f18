"""Code blocks of our documents, and a program that runs those of one page.

    documents.py PAGE.md    in the working directory, which fills with files

A comment above a fence says what the block is:

    <!-- file: NAME -->      it is written to NAME
    <!-- output -->          what the block before it prints; `…` stands for anything
    <!-- not run: REASON --> nobody runs it
    <!-- run -->             it is run, which is so without a comment too

Python blocks of a page share their names, `sh` blocks are run by bash, all in
their order in one folder; `text` is only shown, other languages need a comment. A page that a test of
its own checks says so: `<!-- checked by tests/test_walkthrough.py -->`.
"""

import contextlib
import dataclasses
import io
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^( *)(```+)([\w-]*)[^\n]*\n(.*?)^\1\2 *$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"<!-- (file|output|not run|run)(?:: (.*?))? -->\s*\Z", re.DOTALL)
CHECKED = re.compile(r"<!-- checked by (\S+) -->")


@dataclasses.dataclass
class Block:
    page: pathlib.Path
    line: int  # of its first line in the page
    language: str
    kind: str  # "run", "file", "output", "not run", "shown"
    detail: str  # the file's name, or the reason
    text: str

    @property
    def place(self):
        return f"{self.page.name}:{self.line}"


def find_pages():
    """What users read: decisions and READMEs of rooms have no code that runs."""
    return [ROOT / "README.md", *sorted(
        page
        for page in (ROOT / "docs").rglob("*.md")
        if "adr" not in page.parts and not page.name.endswith(".in.md")
    )]  # fmt: skip


def get_checker(page):
    """The test of its own that a page names."""
    found = CHECKED.search(page.read_text())
    return found and found[1]


def read_blocks(page):
    text, blocks, end = page.read_text(), [], 0
    for fence in FENCE.finditer(text):
        mark = MARK.search(text[end : fence.start()])
        end = fence.end()
        kind, detail = (mark[1], mark[2] or "") if mark else ("run", "")
        if not mark and fence[3] == "text":
            kind = "shown"
        indent = len(fence[1])
        content = "".join(line[indent:] for line in fence[4].splitlines(keepends=True))
        line = text.count("\n", 0, fence.start()) + 2
        blocks.append(Block(page, line, fence[3], kind, " ".join(detail.split()), content))
    return blocks


def find_problems(page):
    """What is wrong with a page before anything runs."""
    if get_checker(page):
        return []
    problems = []
    for block in read_blocks(page):
        if block.kind == "run" and block.language not in ("python", "sh"):
            problems.append(f"{block.place}: nobody can run '{block.language}': say what it is")
        if block.kind in ("file", "not run") and not block.detail:
            problems.append(f"{block.place}: '{block.kind}' without a name or a reason")
    outside = FENCE.sub(lambda fence: "\n" * fence[0].count("\n"), page.read_text())
    for number, (before, line) in enumerate(
        zip(["", *outside.splitlines()], outside.splitlines()), 1
    ):
        if re.match(r" {4}\S", line) and not before.strip():
            problems.append(f"{page.name}:{number}: code without a fence")
    return problems


def fits(expected, actual):
    parts = [re.escape(part) for part in expected.rstrip().split("…")]
    return re.fullmatch("(?s:.*)".join(parts), actual.rstrip()) is not None


class Page:
    """Runs the blocks of a page; `exit` says what failed."""

    def __init__(self):
        self.names = {"__name__": "__main__"}
        self.printed = ""

    def run(self, block):
        if block.kind in ("not run", "shown"):
            return
        if block.kind == "file":
            pathlib.Path(block.detail).parent.mkdir(parents=True, exist_ok=True)
            pathlib.Path(block.detail).write_text(block.text)
        elif block.kind == "output":
            if not fits(block.text, self.printed):
                sys.exit(f"{block.place}: it printed\n{self.printed}")
        elif block.language == "python":
            self.run_python(block)
        else:
            self.run_shell(block)

    def run_python(self, block):
        # Lines of a traceback are those of the page.
        code = compile("\n" * (block.line - 1) + block.text, str(block.page), "exec")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, self.names)
        self.printed = printed.getvalue()

    def run_shell(self, block):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block.text],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
        )
        self.printed = done.stdout
        if done.returncode:
            said = done.stdout[-2000:] + done.stderr[-4000:]
            sys.exit(f"{block.place}: status {done.returncode}\n{said}")


def get_environment(build):
    """A user's: tools and Python on the PATH, `ALULA` the checkout."""
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("JAX_", "XLA_", "ALULA_"))
    }
    python = pathlib.Path(sys.executable).parent
    return environment | {
        "ALULA": str(ROOT),
        "ALULA_BUILD": str(build),
        "PATH": f"{build / 'bin'}:{python}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "python"),
        # No colours, no bytecode beside the sources of a page.
        "PYTHONDONTWRITEBYTECODE": "1",
        "NO_COLOR": "1",
    }


def main():
    runner = Page()
    for block in read_blocks(pathlib.Path(sys.argv[1])):
        runner.run(block)


if __name__ == "__main__":
    main()
