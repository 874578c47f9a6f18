"""Counting must not hide anything: what is no clear success is a failure."""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "jax")]

import tally

FINE = {"status": "ok", "compile_s": 0.1}


def entry(name="a_1", group="a", native=FINE, **rest):
    return {"name": name, "group": group, "native": native, **rest}


def test_outcomes():
    assert tally.outcome(entry(verdict="agrees")) == "passed"
    assert tally.outcome(entry(verdict="nearer", reference_verdict="agrees")) == "passed"
    assert tally.outcome(entry(verdict="differs")) == "wrong"
    assert tally.outcome(entry(verdict="agrees", reference_verdict="differs")) == "wrong"
    for status, word in {
        "compile": "uncompiled",
        "crash": "crash",
        "timeout": "timeout",
        "load": "failed",
        "run": "failed",
        "unsound": "failed",
    }.items():
        assert tally.outcome(entry(native={"status": status}, verdict="agrees")) == word
    assert tally.outcome(entry(), run=False) == "passed"


def test_errors_without_particulars():
    message = "\"x.mlir\":3:8: 'stablehlo.pad': no native code: for tensor<2x3xf32>, pads 1 and -2"
    assert tally.normal(message) == (
        "'stablehlo.pad': no native code: for tensor<..xf32>, pads N and N"
    )
    assert tally.normal("for x86-64-v4: /tmp/some/7.o: bad") == "for x86-64-v4: N.o: bad"


def test_summary_counts_errors_and_groups():
    failed = {"status": "compile", "message": "'a': no native code"}
    text = tally.summary("T", [entry(verdict="agrees"), entry(native=failed), entry(native=failed)])
    assert "1 of 3 agree (33.33 %); 2 not compiled" in text
    assert "| 2 | compile: 'a': no native code | a 2 |" in text
    assert "| a | 3 | 1 | 2 |" in text


def test_recall_gives_back_what_passed(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text(
        "".join(
            json.dumps(e) + "\n"
            for e in (entry("good", verdict="agrees"), entry("bad", verdict="differs"))
        )
    )
    entries = [{"name": "good"}, {"name": "bad"}, {"name": "new"}]
    assert [e["name"] for e in tally.recall(entries, path)] == ["bad", "new"]
    assert tally.passed(entries[0])
    assert tally.recall(entries, None) == entries


def test_expectations_find_regressions(tmp_path):
    path = tmp_path / "expected.json"
    good, bad = entry(verdict="agrees"), entry(native={"status": "compile"})
    tally.Expectations(path, "s").bless([good, good, bad])
    assert tally.Expectations(path, "s").regressions([good, good, bad]) == []
    assert tally.Expectations(path, "s").regressions([good, bad, bad]) == ["a: 1 of 3 pass, 2 did"]
    # Part of a group says nothing; another suite has its own numbers.
    assert tally.Expectations(path, "s").regressions([bad]) == []
    assert tally.Expectations(path, "t").regressions([bad, bad, bad]) == []
