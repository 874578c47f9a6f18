"""Where the tools of the build are."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ALULA_BUILD", ROOT / "build"))


def tool(name):
    return BUILD / "bin" / name


def library(name):
    return BUILD / "lib" / name
