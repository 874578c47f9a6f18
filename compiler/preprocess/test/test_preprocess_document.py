"""docs/preprocessing.md does what it says: its files and commands, in order."""

import os
import re
import subprocess

import numpy as np
import pytest
from preprocess_runs import step, succeed
from support.tool_runs import BIN, ROOT

DOCUMENT = ROOT / "docs/preprocessing.md"


def read_blocks():
    """(kind, name, text) of each block that has a comment above it."""
    return re.findall(
        r"<!-- (file|run)(?:: (\S+))? -->\n```\w+\n(.*?)```", DOCUMENT.read_text(), re.DOTALL
    )


@pytest.fixture
def folder(tmp_path):
    for kind, name, text in read_blocks():
        if kind == "file":
            (tmp_path / name).write_text(text)
    return tmp_path


def test_document_runs(folder):
    commands = "".join(text for kind, _, text in read_blocks() if kind == "run")
    environment = dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}")
    result = subprocess.run(
        ["bash", "-euxc", commands],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "[main_0] 1 cut" in result.stderr
    numbers = re.findall(r"-?[\d.]+", result.stdout.split("=")[-1].split("\n")[-2])
    np.testing.assert_array_equal([float(each) for each in numbers[-4:]], [-1, 0.5, 1, 1])


def test_sample_is_short(folder):
    lines = (folder / "hardtanh.py").read_text().splitlines()
    assert len([line for line in lines if line.strip()]) <= 20


def test_document_names_every_flag_and_tag():
    text = DOCUMENT.read_text()
    flags = (ROOT / "tools/compile/preprocess_flags.h").read_text()
    for flag in re.findall(r'"(preprocess-[\w-]+)"', flags):
        assert f"--{flag}" in text, flag
    for source in (ROOT / "compiler/preprocess").glob("*.cpp"):
        for tag in re.findall(r'"\[?(pre-[a-z-]+)\]?[ "]', source.read_text()):
            assert f"`{tag}`" in text, tag


def test_shell_is_as_shown(folder):
    keep = folder / "kept"
    succeed(folder / "program.mlir", step("cat"), f"--preprocess-keep={keep}")
    shown = re.search(r"```mlir\n(module attributes.*?)      func", DOCUMENT.read_text(), re.DOTALL)
    text = (keep / "1-main_0/stdin").read_text()
    # Locations are left out.
    text = re.sub(r"\n *loc\(#\w+\)|^#.*\n", "", text, flags=re.MULTILINE)
    assert text.startswith(shown.group(1)), text
