"""JAX's ahead-of-time path on Alula: runs aot_snippets.py in a process of its
own, where Alula is the default platform, and shows each snippet as a test."""

import ast
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

HERE = pathlib.Path(__file__).resolve().parent
SNIPPETS = HERE / "aot_snippets.py"
NAMES = [
    node.name
    for node in ast.parse(SNIPPETS.read_text()).body
    if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    report = tmp_path_factory.mktemp("aot") / "report.xml"
    environment = dict(
        os.environ,
        JAX_PLATFORMS="alula,cpu",
        ALULA_NUM_DEVICES="2",
        PYTHONPATH=str(HERE.parent),
    )
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(SNIPPETS)]
        + ["--junitxml", str(report)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    if not report.exists():
        return {}, ended.stdout[-3000:] + ended.stderr[-3000:]
    cases = ElementTree.parse(report).getroot().iter("testcase")
    return {case.get("name"): case for case in cases}, ended.stdout[-3000:]


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
