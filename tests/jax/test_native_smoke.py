"""The programs of the smoke test as native code.

What the compiler refuses with an error is counted as skipped, but no group may
pass less than native/expected.json says; all else must be right.
"""

import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "native")]

import harness_corpus
import judge
import run_native
import tally
import test_smoke

BUILD, CORPUS = test_smoke.BUILD, test_smoke.CORPUS


@pytest.fixture(scope="session")
def native_entries(tmp_path_factory):
    if not (BUILD / "lib/libalula_compiler.so").exists():
        pytest.skip("the compiler is not built")
    subprocess.run([sys.executable, str(HERE / "test_smoke.py")], check=True)
    found = [e for e in harness_corpus.read_index(CORPUS) if e["status"] == "ok"]
    work = tmp_path_factory.mktemp("native")
    run_native.compile_and_run(found, CORPUS, BUILD, work, ["cpu:host"])
    run_native.judge_all(found, judge.Judge(CORPUS), work, None)
    return {entry["name"]: entry for entry in found}


@pytest.mark.parametrize("name", test_smoke.NAMES + test_smoke.PROGRAMS)
def test_native_program(native_entries, name):
    entry = native_entries[name]
    if tally.outcome(entry) == "uncompiled":
        pytest.skip(entry["native"]["message"][:200])
    assert tally.passed(entry), tally.why(entry)


def test_no_group_passes_less(native_entries):
    expectations = tally.Expectations(run_native.EXPECTED, "smoke")
    assert expectations.regressions(list(native_entries.values())) == []
