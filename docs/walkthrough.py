"""Writes docs/walkthrough.md: one small program at every stage of the compiler.

    .venv/bin/python docs/walkthrough.py [--check]

Prose comes from docs/walkthrough.in.md; a line `{{stage NAME}}` becomes the
program after that stage, `{{host NAME}}` the same without kernels, `{{inspect}}` what the artifact holds, `{{run}}` a run
of it, `{{program}}` the program itself. With --check nothing is written: the
exit status says whether the page is what the compiler does today.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parent / os.environ.get("ALULA_BUILD", "build")
PROGRAM = HERE / "walkthrough.mlir"
TARGET = "cpu:x86-64-v3"


def run(folder, tool, *arguments):
    command = [str(BUILD / "bin" / tool), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{tool}: {done.stderr}")
    return done.stdout


def shorten(text):
    """Without locations, the record of the compiler and comments on top."""
    text = re.sub(r' loc\((?:[^()"]|"[^"]*")*\)', "", text)
    lines = [
        line for line in text.splitlines() if not line.startswith(("#loc", "// alula", "// go on"))
    ]
    text = "\n".join(lines).strip()
    text = re.sub(r"alula\.record = \{[^{}]*\}, ", "", text)
    # Machine code is for disassemblers.
    return re.sub(r'"\\7FELF[^"]*"', '"\\\\7FELF…"', text)


def block(language, text):
    return f"```{language}\n{text.rstrip()}\n```"


def make_page():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / PROGRAM.name).write_text(PROGRAM.read_text())
        run(
            folder, "alula-compile", PROGRAM.name, f"--target={TARGET}",
            "--dump-stages-to=stages", "-o", "dense.alula",
        )  # fmt: skip
        stages = {
            path.name.split(".")[1]: shorten(path.read_text())
            for path in (folder / "stages").iterdir()
        }
        inspected = run(folder, "alula-inspect", "dense.alula")
        result = run(
            folder, "alula-run", "dense.alula", "--input=4x32xf32=0.5",
            "--input=32x3xf32=0.25", "--input=3xf32=-1,0,1",
        )  # fmt: skip

    def fill(match):
        word, _, name = match[1].partition(" ")
        if word == "stage":
            return block("mlir", stages[name])
        if word == "host":
            # Kernels as the stage before has them.
            inner = r"(    builtin\.module \{\n)(?:      .*\n)*(    \}\n)"
            return block("mlir", re.sub(inner, r"\1      …\n\2", stages[name]))
        texts = {
            "program": ("mlir", PROGRAM.read_text()),
            "inspect": ("text", inspected),
            "run": ("text", result),
        }
        return block(*texts[word])

    text = (HERE / "walkthrough.in.md").read_text()
    return re.sub(r"^\{\{(.*)\}\}$", fill, text, flags=re.MULTILINE)


def main():
    page = HERE / "walkthrough.md"
    text = make_page()
    if "--check" not in sys.argv:
        page.write_text(text)
    elif text != page.read_text():
        sys.exit("docs/walkthrough.md is old: run docs/walkthrough.py")


if __name__ == "__main__":
    main()
