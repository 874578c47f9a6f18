"""What fuzzers found: each program of found/ ends as its first line says."""

import os
import pathlib
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
COMPILE = HERE.parents[1] / os.environ.get("ALULA_BUILD", "build") / "bin/alula-compile"

pytestmark = pytest.mark.skipif(not COMPILE.exists(), reason="the compiler is not built")


@pytest.mark.parametrize("path", sorted(HERE.glob("found/*.mlir")), ids=lambda path: path.stem)
def test_found(path, tmp_path):
    wanted = path.read_text().splitlines()[0]
    done = subprocess.run(
        [COMPILE, path, "--target=cpu:x86-64-v3", "-o", tmp_path / "out.alula"],
        capture_output=True,
        check=False,
        text=True,
    )
    if wanted == "// compiles":
        assert done.returncode == 0, done.stderr
        return
    said = wanted.removeprefix("// error: ")
    assert said != wanted, "the first line says neither"
    assert done.returncode == 1 and said in done.stderr, done.stderr
