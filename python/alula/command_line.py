"""The command line tools: each is a program of this package, which takes the place
of Python as soon as it is found."""

import os
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent / "bin"


def main():
    name = pathlib.Path(sys.argv[0]).name
    program = FOLDER / name
    if not program.exists():
        sys.exit(f"{name}: not a tool of this package: {program} is missing")
    os.execv(program, [name, *sys.argv[1:]])
