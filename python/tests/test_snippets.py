"""Runs the files *_snippets.py in a process of their own, where Alula is JAX's
default platform, and shows each of their tests here."""

import ast
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

HERE = pathlib.Path(__file__).resolve().parent
FILES = sorted(HERE.glob("*_snippets.py"))
NAMES = [
    f"{file.stem}.{node.name}"
    for file in FILES
    for node in ast.parse(file.read_text()).body
    if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    report = tmp_path_factory.mktemp("snippets") / "report.xml"
    environment = dict(
        os.environ,
        JAX_PLATFORMS="alula,cpu",
        ALULA_NUM_DEVICES="2",
        PYTHONPATH=str(HERE.parent),
    )
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, FILES)]
        + ["--junitxml", str(report)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    if not report.exists():
        return {}, ended.stdout[-3000:] + ended.stderr[-3000:]
    cases = ElementTree.parse(report).getroot().iter("testcase")
    by_name = {f"{case.get('classname').split('.')[-1]}.{case.get('name')}": case for case in cases}
    return by_name, ended.stdout[-3000:]


@pytest.mark.parametrize("name", NAMES)
def test_snippet(name, results):
    cases, output = results
    case = cases.get(name)
    assert case is not None, f"the process ended before this snippet:\n{output}"
    skipped = case.find("skipped")
    if skipped is not None:
        reason = skipped.get("message")
        (pytest.xfail if skipped.get("type") == "pytest.xfail" else pytest.skip)(reason)
    for failure in [*case.findall("failure"), *case.findall("error")]:
        pytest.fail(failure.text, pytrace=False)
