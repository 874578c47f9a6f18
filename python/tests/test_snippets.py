"""Runs each file *_snippets.py in a process of its own, where Alula is JAX's
default platform, and shows each of their tests here."""

import ast
import functools
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

HERE = pathlib.Path(__file__).resolve().parent
FILES = sorted(set(HERE.glob("*_snippets.py")) - {pathlib.Path(__file__).resolve()})
NAMES = [
    f"{file.stem}.{node.name}"
    for file in FILES
    for node in ast.parse(file.read_text()).body
    if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
]
# Of one file's process; one test that takes half of it shows where it is.
SECONDS = 3000


def count_devices(file):
    """What the file says in `DEVICES = 8`."""
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "DEVICES":
            return ast.literal_eval(node.value)
    return 2


def run(file, report):
    """What the process says, and why it ended early, if it did."""
    # Other tests have set JAX to their wishes.
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("JAX_")}
    environment = dict(
        inherited,
        JAX_PLATFORMS="alula,cpu",
        ALULA_NUM_DEVICES=str(count_devices(file)),
        PYTHONPATH=str(HERE.parent),
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)]
    command += ["-o", f"faulthandler_timeout={SECONDS // 2}", "--junitxml", str(report)]
    try:
        ended = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired as error:
        said = b"".join(filter(None, (error.stdout, error.stderr)))
        return f"it took more than {SECONDS} s\n" + said.decode(errors="replace")[-6000:]
    return ended.stdout[-3000:] + ended.stderr[-3000:]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The test cases of a file by name, and the output of its process."""

    @functools.cache
    def get(file):
        report = tmp_path_factory.mktemp("snippets") / "report.xml"
        output = run(file, report)
        if not report.exists():
            return {}, output
        cases = {}
        for case in ElementTree.parse(report).getroot().iter("testcase"):
            # One function's cases for several parameters stand together.
            cases.setdefault(case.get("name").split("[")[0], []).append(case)
        return cases, output

    return get


@pytest.mark.parametrize("name", NAMES)
def test_snippet(name, results):
    stem, function = name.split(".")
    cases, output = results(HERE / f"{stem}.py")
    found = cases.get(function)
    assert found, f"the process ended before this snippet:\n{output}"
    for case in found:
        for failure in [*case.findall("failure"), *case.findall("error")]:
            pytest.fail(f"{case.get('name')}: {failure.text}", pytrace=False)
    for case in found:
        skipped = case.find("skipped")
        if skipped is not None:
            reason = skipped.get("message")
            (pytest.xfail if skipped.get("type") == "pytest.xfail" else pytest.skip)(reason)
