"""A fast part of the harness checks: some 200 programs, end to end."""

import os
import pathlib
import subprocess
import sys

os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import harness_corpus
import pytest
import run_harness

HERE = pathlib.Path(__file__).parent
BUILD = run_harness.ROOT / os.environ.get("ALULA_BUILD", "build")
CORPUS = BUILD / "corpus" / "smoke"
NAMES = (HERE / "smoke_names.txt").read_text().split()
PROGRAMS = ["mlp", "cnn", "attention", "layer_norm_gradient", "scan_rnn", "collatz", "branches"]
PROGRAMS += ["sort_by_key", "histogram", "low_pass", "random_numbers", "solve", "cumulative"]
PROGRAMS += ["mixed_types"]
FIRST_PROGRAM = 8000


def generate() -> None:
    """Fills the corpus, harnesses first."""
    import programs

    harness_corpus.generate(CORPUS, names=set(NAMES))
    done = {entry["name"] for entry in harness_corpus.read_index(CORPUS)}
    for number, (function, args) in enumerate(programs.PROGRAMS, FIRST_PROGRAM):
        name = function.__name__
        if name not in done:
            harness_corpus.store(CORPUS, number, "program", name, function, lambda args=args: args)


@pytest.fixture(scope="session")
def entries(tmp_path_factory):
    if not (BUILD / "bin" / "alula-opt").exists():
        pytest.skip("the tools are not built")
    # JAX's flags are of the whole process, so the corpus is made in another.
    subprocess.run([sys.executable, __file__], check=True)
    found = [e for e in harness_corpus.read_index(CORPUS) if e["status"] == "ok"]
    checker = run_harness.Checker(CORPUS, BUILD / "bin", os.cpu_count())
    work = tmp_path_factory.mktemp("results")
    checker.expand(found, work)
    for form in run_harness.FORMS:
        checker.round_trip(found, form, work)
    checker.read_by_jaxlib(found, work)
    checker.interpret(found, work)
    return {entry["name"]: entry for entry in found}


@pytest.mark.parametrize("name", NAMES + PROGRAMS)
def test_program(entries, name):
    entry = entries[name]
    for form in run_harness.FORMS:
        assert entry.get(f"round_trip:{form}", "") == "", form
    assert entry["jaxlib"] == ""
    assert entry["interpret"] == ""
    assert entry["verdict"] != "differs", entry["detail"]


if __name__ == "__main__":
    generate()
