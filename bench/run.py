"""Alula beside XLA:CPU, IREE, onnxruntime, OpenVINO, torch, ggml and NumPy.

./dev bench [--rows NAME,...] [--quick] ..."""

import argparse
import json
import os
import shutil
import sys
import time
from pathlib import Path

from bench import machine, page, tables
from bench.measuring import measure, prepare
from bench.peers import EVERY
from bench.peers.tool import ToolFailed
from bench.roofline import best_of, limit, measure_peaks

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / os.environ.get("ALULA_BUILD", "build") / "bench"
RESULTS = ROOT / "bench" / "results"


def parse(argv=None):
    parser = argparse.ArgumentParser(
        prog="./dev bench",
        description="Alula beside its peers: XLA:CPU, IREE, onnxruntime, OpenVINO and others.",
    )
    parser.add_argument("--rows", help="names, with commas; all without it")
    parser.add_argument("--peers", default=",".join(EVERY), help="default: %(default)s")
    parser.add_argument("--sizes", default="usual,odd", help="default: %(default)s")
    parser.add_argument("--threads", default="1,2", help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=7, help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=0.1, help="of a peer in a round")
    parser.add_argument("--limit", type=float, default=10, help="seconds until a peer is given up")
    parser.add_argument("--name", default="latest", help="of the files in bench/results")
    parser.add_argument("--quick", action="store_true", help="3 short rounds, usual sizes")
    parser.add_argument("--list", action="store_true", help="names of the rows")
    parser.add_argument("--draw", metavar="FILE.json", help="table and page of old results")
    options = parser.parse_args(argv)
    if options.quick:
        options.rounds, options.seconds, options.limit = 3, 0.05, 20
        options.sizes = "usual" if options.sizes == "usual,odd" else options.sizes
        options.threads = "2" if options.threads == "1,2" else options.threads
        options.name = "quick" if options.name == "latest" else options.name
    options.peers = options.peers.split(",")
    for name in options.peers:
        if name not in EVERY:
            parser.error(f"no peer is called '{name}'")
    available = len(os.sched_getaffinity(0))
    options.threads = [int(text) for text in options.threads.split(",")]
    for count in options.threads:
        if not 1 <= count <= available:
            parser.error(f"{count} threads on {available} CPUs")
    options.sizes = options.sizes.split(",")
    if not set(options.sizes) <= {"usual", "odd"}:
        parser.error("sizes are usual and odd")
    return options, parser


def choose_rows(options, parser) -> dict:
    from bench.workloads import ROWS

    if not options.rows:
        return ROWS
    names = options.rows.split(",")
    for name in names:
        if name not in ROWS:
            parser.error(f"no row is called '{name}'; --list has them")
    return {name: ROWS[name] for name in names}


def tell(cell: dict, start: float):
    """One line as it goes."""
    times = []
    for name, entry in cell["peers"].items():
        if "minimum" in entry:
            wrong = "" if entry["right"] else " WRONG"
            times.append(f"{name} {tables.figure(entry['minimum'])}{wrong}")
        elif "failed" in entry:
            times.append(f"{name} failed")
    where = f"{cell['row']} {cell['size']}, {cell['threads']} thr."
    print(f"{time.monotonic() - start:6.0f} s  {where:32} {'  '.join(times)}", flush=True)


def run(options, rows) -> dict:
    start = time.monotonic()
    cpus = sorted(os.sched_getaffinity(0))
    chosen = {count: set(cpus[-count:]) for count in options.threads}
    data = {
        "machine": machine.describe(),
        "rounds": options.rounds,
        "seconds": options.seconds,
        "peaks": {str(n): measure_peaks(WORK, n, chosen[n]) for n in options.threads},
        "cells": [],
    }
    for row in rows.values():
        for size in options.sizes:
            folder = WORK / f"{row.name}-{size}"
            try:
                about = prepare(row.name, size, folder)
            except ToolFailed as problem:
                print(f"{row.name} {size}: not lowered: {problem}", file=sys.stderr)
                continue
            for threads in options.threads:
                cell = {
                    "row": row.name,
                    "title": row.title,
                    "size": size,
                    "threads": threads,
                    "work": about["work"],
                    "limit": limit(about["work"], data["peaks"][str(threads)]),
                    "peers": measure(folder, threads, chosen[threads], options),
                }
                data["cells"].append(cell)
                tell(cell, start)
                # What is measured so far outlives an interrupted run.
                store(data, options.name)
            shutil.rmtree(folder)
    # Others on the machine may have been busy at the start.
    for n in options.threads:
        again = measure_peaks(WORK, n, chosen[n])
        data["peaks"][str(n)] = best_of(data["peaks"][str(n)], again)
    for cell in data["cells"]:
        cell["limit"] = limit(cell["work"], data["peaks"][str(cell["threads"])])
    data["machine"]["load_after"] = round(os.getloadavg()[0], 2)
    data["machine"]["took"] = round(time.monotonic() - start)
    return data


def store(data: dict, name: str):
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(data, indent=1) + "\n")


def write(data: dict, name: str):
    store(data, name)
    (RESULTS / f"{name}.md").write_text(tables.report(data))
    (RESULTS / f"{name}.html").write_text(page.page(data))
    print(f"bench/results/{name}.json, .md, .html")


def main() -> int:
    options, parser = parse()
    if options.draw:
        source = Path(options.draw)
        write(json.loads(source.read_text()), source.stem)
        return 0
    rows = choose_rows(options, parser)
    if options.list:
        for row in rows.values():
            print(f"{row.name:16} {row.title}")
        return 0
    data = run(options, rows)
    write(data, options.name)
    wrong = tables.problems(data)
    for line in wrong:
        print(line)
    return 1 if any("alula" in line for line in wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
