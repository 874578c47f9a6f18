"""Compares two builds of alula-bench on the same artifacts, in turns.

  paired.py OLD NEW FILE.alula... [--rounds N] [--seconds S] [--threads N]

OLD and NEW are alula-bench binaries. Each round runs OLD, NEW and OLD again on
every file, in an order that changes, and the fastest round of each counts: what
else the machine does makes a run slower, never faster. The third column of
figures, OLD to itself, is the control: differences of its size are noise. A call
is measured in processor time with one thread, else in real time.
"""

import argparse
import json
import math
import pathlib
import random
import subprocess

SIDES = ("old", "new", "control")


def measure(binary: str, file: str, options) -> float:
    """Nanoseconds of a call."""
    done = subprocess.run(
        [
            binary,
            file,
            f"--threads={options.threads}",
            f"--benchmark_min_time={options.seconds}",
            "--benchmark_format=json",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    row = json.loads(done.stdout)["benchmarks"][0]
    scale = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[row["time_unit"]]
    return row["cpu_time" if options.threads == 1 else "real_time"] * scale


def summarize(times: dict[str, dict[str, float]]) -> list[str]:
    """Lines of a table: the ratios of each row, and their geometric means."""
    lines, ratios = [], {"new": [], "control": []}
    for name, sides in times.items():
        row = [f"{name:24} {sides['old'] / 1e3:12.1f} us"]
        for side, list_ in ratios.items():
            list_.append(sides[side] / sides["old"])
            row.append(f"{list_[-1]:8.3f}")
        lines.append(" ".join(row))
    means = [math.exp(sum(map(math.log, r)) / len(r)) for r in ratios.values()]
    lines.append(f"{'geometric mean':24} {'':15} " + " ".join(f"{m:8.3f}" for m in means))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    binary = {"old": options.old, "new": options.new, "control": options.old}
    times = {pathlib.Path(f).stem: dict.fromkeys(SIDES, math.inf) for f in options.files}
    order = list(SIDES)
    for number in range(options.rounds):
        for file in options.files:
            best = times[pathlib.Path(file).stem]
            random.shuffle(order)
            for side in order:
                best[side] = min(best[side], measure(binary[side], file, options))
        print(f"round {number + 1} of {options.rounds}", flush=True)
    print(f"{'row':24} {'old':>15} {'new/old':>8} {'old/old':>8}")
    print("\n".join(summarize(times)))


if __name__ == "__main__":
    main()
