"""The tools of the build, for the tests of rooms that call them."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")
BIN = BUILD / "bin"
# Tools find each other.
PATH = f"{BIN}:{os.environ['PATH']}"


def run_tool(tool, *words, environment=None, timeout=2000, **options):
    """A tool of ours or of others by its name, or by the path of its file; what
    it says is kept."""
    own = BIN / tool
    return subprocess.run(
        [str(own if own.exists() else tool), *map(str, words)],
        capture_output=True,
        env={**os.environ, "PATH": PATH, **(environment or {})},
        timeout=timeout,
        **options,
    )


def get_said(result):
    said = result.stderr
    return said if isinstance(said, str) else said.decode(errors="replace")


def check_success(result):
    """What it printed."""
    assert result.returncode == 0, get_said(result)[:4000]
    return result.stdout


def check_failure(result, status):
    """What it said."""
    assert result.returncode == status, (result.returncode, get_said(result)[:4000])
    return get_said(result)
