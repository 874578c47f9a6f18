"""docs/preprocessing.md is complete; docs/test_documents.py runs its code."""

import re

import pytest
from preprocess_runs import step, succeed
from support.documents import read_blocks
from support.tool_runs import ROOT

DOCUMENT = ROOT / "docs/preprocessing.md"


@pytest.fixture
def folder(tmp_path):
    for block in read_blocks(DOCUMENT):
        if block.kind == "file":
            (tmp_path / block.detail).write_text(block.text)
    return tmp_path


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
