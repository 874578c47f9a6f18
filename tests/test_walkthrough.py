"""docs/walkthrough.md is what the compiler does."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")


@pytest.mark.skipif(not (BUILD / "bin/alula-compile").exists(), reason="not built")
def test_page_is_current():
    done = subprocess.run(
        [sys.executable, ROOT / "docs/walkthrough.py", "--check"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
