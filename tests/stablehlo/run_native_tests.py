"""Runs StableHLO's own tests as native code.

  run_native_tests.py --from CHECKOUT [--build build] [--match RE] [--set data ..]
                      [--target T] [--compile-only] [--reference] [--summary F.md] [--bless]

Each test is split (split_program.py): its inputs are passed at run time, so that
nothing can be folded, and what comes out goes through the test's own checks. The
programs with dynamic shapes hold neither inputs nor checks: their results must be
the interpreter's on made-up inputs, where it finds sizes that fit.
With --reference the interpreter runs the programs, which tests the splitting.
"""

import argparse
import json
import os
import pathlib
import re
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent / "jax"), str(HERE.parent / "native")]

import compare
import native_corpus
import numpy as np
import tally
import tensor_file
import tool_batch
import worker_pool

BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")
EXPECTED = HERE.parent / "native" / "expected.json"
# Tests that ours do not pass though they are nearer to the truth, and why.
KNOWN = json.loads((HERE.parent / "native" / "known_differences.json").read_text())
# What each set must reach, in percent.
GOALS = {"data": 99.8, "interpreter": 97, "math": 100, "quantized": 88, "dynamic": 60}
# Tests that one compiled program on one device can't be.
NO_PROGRAM = ("several devices", "watches the interpreter", "has arguments")


def run_natively(
    entries: list[dict], corpus: pathlib.Path, work: pathlib.Path, options, run: bool
) -> None:
    """Sets entry["native"]."""
    tasks = [
        {
            "program": str(corpus / entry["mlir"]),
            "targets": options.target or ["cpu:host"],
            "run": run and "no_reference" not in entry,
            "inputs": [i | {"file": str(corpus / i["file"])} for i in entry.get("inputs", [])],
            "outputs": str(work / str(entry["id"])),
            "find_floats": entry["set"] == "quantized",
        }
        for entry in entries
    ]
    answers = worker_pool.run(
        tasks, options.build, options.jobs, timeout=options.timeout, title="native"
    )
    for entry, answer in zip(entries, answers, strict=True):
        entry["native"] = answer


def interpret(entries: list[dict], corpus: pathlib.Path, work: pathlib.Path, options) -> None:
    """Sets entry["native"] as if the interpreter were a worker."""
    commands = [
        [str(corpus / entry["mlir"]), "--function=main"]
        + [f"--input={i['type']}=@{corpus / i['file']}" for i in entry["inputs"]]
        + [f"--output={work / str(entry['id'])}.{k}.bin" for k in range(len(entry["outputs"]))]
        for entry in entries
    ]
    problems = tool_batch.interpret(options.build / "bin/alula-interpret", commands, options.jobs)
    for entry, problem in zip(entries, problems, strict=True):
        entry["native"] = {"status": "run" if problem else "ok", "message": problem}
        if not problem:
            entry["native"]["results"] = entry["outputs"]


def compare_dynamic(entry: dict, corpus: pathlib.Path) -> tuple[str, str]:
    """Compares results with the interpreter's: the sizes are known only now."""
    accumulates = not compare.ACCUMULATING.isdisjoint(entry["ops"])
    stem = corpus / entry["mlir"].removesuffix(".mlir")
    results = entry["native"]["results"]
    if len(results) != entry["results"]:
        return "differs", f"{len(results)} results for {entry['results']}"
    for number, result in enumerate(results):
        try:
            ours = tensor_file.read(result["file"], result["type"])
            theirs = tensor_file.read(f"{stem}.ref{number}.bin", result["type"])
        except ValueError as error:
            return "differs", f"result {number} of type {result['type']}: {error}"
        if difference := compare.compare(ours, theirs, accumulates):
            return "differs", f"result {number}: {difference.text}"
    return "agrees", ""


def check(entries: list[dict], corpus: pathlib.Path, work: pathlib.Path, options) -> None:
    """Sets entry["verdict"] to what the test's own checks say about the results."""
    ran = []
    for entry in entries:
        results = entry["native"].get("results")
        if entry["native"]["status"] not in ("ok", "unsound") or results is None:
            continue
        if entry["set"] == "dynamic":
            entry["verdict"], entry["detail"] = compare_dynamic(entry, corpus)
            continue
        types = [result["type"] for result in results]
        wanted = [output["type"] for output in entry["outputs"]]
        if types != wanted and "?" not in "".join(wanted):
            entry["verdict"], entry["detail"] = "differs", f"results {types} for {wanted}"
            continue
        ran.append((entry, types))
    commands = [
        [str(corpus / entry["check"]), "--function=main"]
        + [f"--input={kind}=@{work / str(entry['id'])}.{k}.bin" for k, kind in enumerate(types)]
        for entry, types in ran
    ]
    problems = tool_batch.interpret(options.build / "bin/alula-interpret", commands, options.jobs)
    for (entry, _), problem in zip(ran, problems, strict=True):
        entry["verdict"] = "differs" if problem else "agrees"
        entry["detail"] = problem


def set_line(name: str, entries: list[dict], run: bool) -> str:
    if name == "dynamic":
        good = sum("artifact_bytes" in entry["native"] for entry in entries)
    else:
        good = sum(tally.passed(entry, run) for entry in entries)
    share = 100 * good / max(len(entries), 1)
    what = "compile" if name == "dynamic" or not run else "pass"
    text = f"{name}: {good} of {len(entries)} {what} ({share:.2f} %, goal {GOALS[name]} %)"
    if name == "dynamic" and run:
        ran = [e for e in entries if "artifact_bytes" in e["native"] and "no_reference" not in e]
        right = sum(tally.passed(entry) for entry in ran)
        return f"{text}; {right} of {len(ran)} that were run give the interpreter's results"
    if name == "quantized":
        said = [entry["native"].get("floats") for entry in entries]
        text += f"; {said.count([])} with integer kernels alone"
    files: dict[str, bool] = {}
    for entry in entries:
        files[entry["file"]] = files.get(entry["file"], True) and tally.passed(entry, run)
    if len(files) < len(entries):
        text += f"; all of {sum(files.values())} of {len(files)} files"
    return text


def steps_of(program: str, kind: str) -> float:
    """What one unit of a result is: of integers 1, of floats the scale with which they
    were dequantized last."""
    if kind.rpartition("x")[2].strip("ui").isdigit():
        return 1.0
    found = re.findall(r"uniform_dequantize.*?!quant\.uniform<\w+:\w+, ([-+.\de]+)", program)
    return float(found[-1]) if found else 0.0


def measure_units(entries: list[dict], corpus: pathlib.Path, work: pathlib.Path, options) -> None:
    """Sets entry["units"]: elements that differ from the interpreter's, of how many, and the
    largest difference in units; None where there is nothing to compare."""
    ran = [entry for entry in entries if entry["native"].get("results")]
    commands = [
        [str(corpus / entry["mlir"]), "--function=main"]
        + [f"--input={i['type']}=@{corpus / i['file']}" for i in entry["inputs"]]
        + [f"--output={work / str(entry['id'])}.ref{k}.bin" for k in range(len(entry["outputs"]))]
        for entry in ran
    ]
    problems = tool_batch.interpret(options.build / "bin/alula-interpret", commands, options.jobs)
    for entry, problem in zip(ran, problems, strict=True):
        if problem:
            continue
        program = (corpus / entry["mlir"]).read_text()
        different, count, largest = 0, 0, 0.0
        for number, result in enumerate(entry["native"]["results"]):
            step = steps_of(program, result["type"])
            files = [result["file"], work / f"{entry['id']}.ref{number}.bin"]
            ours, theirs = (np.atleast_1d(tensor_file.read(f, result["type"])) for f in files)
            if not np.iscomplexobj(ours):
                ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
            same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
            gap = np.abs(np.where(same, 0, ours) - np.where(same, 0, theirs))
            # A float of another spelling is no other number of units.
            apart = gap > (step / 2 if step else 0)
            different, count = different + int(apart.sum()), count + apart.size
            largest = max([largest, *(gap[apart] / (step or 1))])
        entry["units"] = [different, count, largest]


def integer_table(entries: list[dict]) -> str:
    """Which quantized programs are integers in memory and in products, and what differs
    from the reference."""
    rows = ["| program | outcome | floats | differ | units |", "|---|---|---|---|---|"]
    for entry in entries:
        floats = entry["native"].get("floats")
        said = "?" if floats is None else ", ".join(floats) or "none"
        units = entry.get("units")
        apart = f"{units[0]} of {units[1]} | {units[2]:g}" if units else "? | ?"
        rows.append(f"| {entry['name']} | {tally.outcome(entry)} | {said} | {apart} |")
    return "\n".join(rows) + "\n"


def units_line(entries: list[dict]) -> str:
    known = [entry["units"] for entry in entries if entry.get("units")]
    different, count = (sum(units[i] for units in known) for i in (0, 1))
    largest = max((units[2] for units in known), default=0)
    share = 100 * different / max(count, 1)
    return (
        f"quantized: {different} of {count} elements of {len(known)} programs differ from the"
        f" reference ({share:.4f} %), by {largest:g} units at most"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="checkout", type=pathlib.Path, help="StableHLO's checkout")
    parser.add_argument("--corpus", type=pathlib.Path, default=BUILD / "corpus/stablehlo")
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    parser.add_argument("--match", default="", help="regular expression")
    parser.add_argument("--set", action="append", default=[], choices=list(GOALS))
    parser.add_argument("--target", action="append", default=[], help="cpu:host")
    parser.add_argument("--compile-only", action="store_true", help="do not run anything")
    parser.add_argument("--reference", action="store_true", help="interpret instead")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=float, default=worker_pool.TIMEOUT)
    parser.add_argument("--summary", type=pathlib.Path, help="Markdown file")
    parser.add_argument("--results", type=pathlib.Path, help="JSON lines file")
    parser.add_argument("--again", type=pathlib.Path, help="only what did not pass, by --results")
    parser.add_argument("--bless", action="store_true", help="write native/expected.json")
    options = parser.parse_args()
    start = time.monotonic()
    index = options.corpus / "index.jsonl"
    if not index.exists():
        if not options.checkout:
            parser.error(f"{index} is missing: --from must say where StableHLO is")
        options.corpus.mkdir(parents=True, exist_ok=True)
        maker = native_corpus.Maker(
            options.checkout.resolve(), options.corpus.resolve(), options.build.resolve()
        )
        maker.make(options.jobs)
    corpus, run = options.corpus.resolve(), not options.compile_only
    everything = [json.loads(line) for line in index.read_text().splitlines()]
    everything = [
        entry
        for entry in everything
        if re.search(options.match, entry["name"]) and entry["set"] in (options.set or GOALS)
    ]
    entries = [entry for entry in everything if entry["status"] == "ok"]
    if options.reference:
        entries = [entry for entry in entries if entry["set"] != "dynamic"]
    todo = tally.recall(entries, options.again)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        if options.reference:
            interpret(todo, corpus, work, options)
        else:
            run_natively(todo, corpus, work, options, run)
        if run:
            check(todo, corpus, work, options)
            if not options.reference:
                quantized = [entry for entry in todo if entry["set"] == "quantized"]
                measure_units(quantized, corpus, work, options)
    for entry in entries:
        if "no_reference" in entry and entry["native"]["status"] == "ok":
            entry["verdict"] = "agrees"
    # What we can't split, we can't pass; what is no program, is not counted.
    for entry in everything:
        if entry["status"] != "ok" and entry["reason"] not in NO_PROGRAM:
            entry["native"] = {"status": "compile", "message": entry["reason"]}
            entries.append(entry)
    counted = [entry for entry in entries if not entry.get("disabled")]
    lines, parts, lost = [], [], []
    for name in GOALS:
        chosen = [entry for entry in counted if entry["set"] == name]
        if not chosen:
            continue
        lines.append(set_line(name, chosen, run))
        parts.append(tally.summary(f"StableHLO's tests: {name}", chosen, run))
        if name == "quantized":
            parts.append(integer_table(chosen))
            if run and not options.reference:
                lines.append(units_line(chosen))
        expectations = tally.Expectations(EXPECTED, f"stablehlo {name}")
        lost += [f"{name} {text}" for text in expectations.regressions(chosen, run)]
        if options.bless and run:
            expectations.bless(chosen)
    disabled = [entry for entry in entries if entry.get("disabled")]
    if disabled:
        good = sum(tally.passed(entry, run) for entry in disabled)
        lines.append(f"disabled by StableHLO, not counted: {good} of {len(disabled)}")
    failed = [entry for entry in counted if not tally.passed(entry, run)]
    if known := [entry for entry in failed if entry["name"] in KNOWN]:
        lines.append(f"known_differences.json explains {len(known)} of {len(failed)} that fail")
    left = [entry for entry in everything if entry.get("reason") in NO_PROGRAM]
    if left:
        lines.append(f"no programs for one device: {len(left)}")
    text = "\n".join(f"- {line}" for line in lines) + "\n\n" + "\n".join(parts)
    if options.summary:
        options.summary.write_text(text)
    else:
        print(text)
    if options.results:
        options.results.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    for line in lost:
        print(f"REGRESSION {line}")
    print("\n".join(lines))
    print(f"({time.monotonic() - start:.0f} s)")
    hard = [e for e in counted if tally.outcome(e, run) in ("wrong", "crash", "failed")]
    sys.exit(bool(lost or any(entry["name"] not in KNOWN for entry in hard)))


if __name__ == "__main__":
    main()
