"""What a bundle for machines with a GPU runs: programs that are compiled, and what they
have to give. Needs Python alone.

bundle.json, at the top, says what there is:
  commit    what it was made of
  programs  [{name, file, inputs, outputs, rtol, atol}], values as alula-run takes them
  rows      {name: {file, flops | bytes | kernels}}
"""

import concurrent.futures
import json
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FILE = ROOT / "bundle.json"
# Sizes of an interpreter have rows of their own.
SMALL = "_small"


def read() -> dict:
    return json.loads(FILE.read_text())


def run_program(run, program: dict) -> dict:
    """Runs it on the GPU and compares its results."""
    words = [
        ROOT / "bin/alula-run",
        ROOT / program["file"],
        "--device=cuda",
        *(f"--input={value}" for value in program["inputs"]),
        *(f"--expected_output={value}" for value in program["outputs"]),
        *(f"--{name}={program[name]}" for name in ("rtol", "atol") if name in program),
    ]
    return run.say(words, seconds=120)


def run_programs(run) -> dict:
    """Every program's PTX is loaded and run, several processes at a time."""
    programs = read()["programs"]
    if run.options.small:
        programs = programs[:: max(len(programs) // 8, 1)]
    found = {"of": len(programs), "right": 0, "wrong": {}}
    with concurrent.futures.ThreadPoolExecutor(min(os.cpu_count() or 1, 8)) as pool:
        answers = pool.map(lambda program: run_program(run, program), programs)
        for program, said in zip(programs, answers, strict=True):
            if "failed" in said:
                found["wrong"][program["name"]] = said
            else:
                found["right"] += 1
    print(f"  {found['right']} of {found['of']} programs are right", flush=True)
    return found


def run_ours(run, name: str) -> dict:
    """A row by alula-bench."""
    row = read()["rows"][name + (SMALL if run.options.small else "")]
    once = ["--benchmark_min_time=1x"] if run.options.small else ["--benchmark_min_time=1s"]
    said = run.say(
        [
            ROOT / "bin/alula-bench",
            ROOT / row["file"],
            "--device=cuda",
            "--benchmark_format=json",
            *once,
        ],
        seconds=180,
    )
    if "said" not in said:
        return said
    text = said.pop("said")
    timed = json.loads(text[text.index("{") :])["benchmarks"][0]
    unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[timed["time_unit"]]
    found = said | {key: row[key] for key in ("flops", "bytes", "kernels") if key in row}
    return add_rates(found | {"seconds": timed["real_time"] * unit})


def add_rates(found: dict) -> dict:
    seconds = found["seconds"]
    if "flops" in found:
        found["tflops"] = found["flops"] / seconds / 1e12
    if "bytes" in found:
        found["gb_per_second"] = found["bytes"] / seconds / 1e9
    if "kernels" in found:
        found["us_per_kernel"] = seconds / found["kernels"] * 1e6
    return found


def run_driver(run, name: str) -> dict:
    """What takes no program of ours, in a process of its own."""
    small = ["--small"] if run.options.small else []
    said = run.say([sys.executable, ROOT / "bench/gpu_driver.py", name, *small], seconds=180)
    if "said" not in said:
        return said
    found = said | json.loads(said.pop("said"))
    return add_rates(found) if "seconds" in found else found
