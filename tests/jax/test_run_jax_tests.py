"""The runner of JAX's tests, on a small tree of our own."""

import json
import subprocess
import sys
from pathlib import Path

# Seconds until a test hangs; the others take none, even on a slow machine that does much else.
HANG = 10
RUNNER = Path(__file__).resolve().parent / "run_jax_tests.py"
TREE = """
import os, time
HERE = os.environ["JAX_PLATFORMS"].startswith("alula")

def test_passes(): pass
def test_dies_here():
    if HERE: os.abort()
def test_fails_here(): assert not HERE, "Wrong: 17"
def test_hangs_here():
    if HERE: time.sleep(6000)
def test_fails_everywhere(): assert False
def test_again(): time.sleep(0.3)
"""


def run_tree(tmp_path, *arguments):
    tests = tmp_path / "tests"
    tests.mkdir(exist_ok=True)
    (tests / "toy_test.py").write_text(TREE)
    table = tmp_path / "table.md"
    command = [sys.executable, RUNNER, "toy", "--from", tmp_path, "--out", tmp_path / "out"]
    command += ["--table", table, "--slice", "0.01", "--test-timeout", str(HANG), *arguments]
    subprocess.run(command, check=True, timeout=2000, stdout=subprocess.DEVNULL)
    lines = table.read_text().splitlines()
    return [cell.strip() for cell in lines[2].split("|")[1:-1]], "\n".join(lines)


def test_deaths_hangs_and_failures_are_counted(tmp_path):
    row, text = run_tree(tmp_path)
    assert row[:5] == ["toy", "6 of 6", "5", "2", "40.0"] and row[9] == "2"
    for cause in ("| 1 | the process ended with -N |", "| 1 | timeout |", "Wrong: N"):
        assert cause in text


def test_a_sample_is_completed_and_an_interrupted_test_is_run_again(tmp_path):
    row, _ = run_tree(tmp_path, "--sample", "2")
    assert row[:5] == ["toy", "3 of 6", "2", "1", "50.0"]
    results = tmp_path / "out" / "toy_test.alula.0.jsonl"
    before = results.read_text()
    # As a run leaves it that is killed within its next test.
    died = "tests/toy_test.py::test_again"
    with open(results, "a") as out:
        out.write(json.dumps({"start": died, "at": 0.0}) + "\n")
    row, _ = run_tree(tmp_path)
    assert row[:5] == ["toy", "6 of 6", "5", "2", "40.0"]
    assert results.read_text().startswith(before)
    # Paused time isn't counted: the hang is.
    assert float(row[5]) < HANG < float(row[6])
