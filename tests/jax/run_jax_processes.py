"""Runs JAX's own tests of several processes on Alula and on XLA:CPU and compares.

  run_jax_processes.py [FILE...] --from DIR [--engine gloo|openmpi] [--match NAME]
                       [--processes N] [--devices N] [--only alula|cpu] [--out DIR]

DIR is an extracted tree of jax at the tag of the installed version. FILE is a name in
its tests/multiprocess, as `all_gather`; default: all. Each file runs in N processes of
its own with some devices each; a test passes if it passes in all of them. What the
processes write stays in --out."""

import argparse
import dataclasses
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OUTCOMES = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}
# Seconds that a process waits for another.
PATIENCE = 200


def read_tests_of_others(file):
    """Tests that only a platform called cpu can pass."""
    lines = (HERE / "jax_tests_of_others.txt").read_text().splitlines()
    names = (line.split()[0].split("::") for line in lines if line and line[0] != "#")
    return {".".join(name[1:]) for name in names if name[0] == f"{file}_test"}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--from", dest="tree", required=True, type=Path)
    parser.add_argument("--engine", default="gloo", choices=["gloo", "openmpi"])
    parser.add_argument("--match", help="only tests with this in their name")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--devices", type=int, default=4, help="of each process")
    parser.add_argument("--only", choices=["alula", "cpu"])
    parser.add_argument("--timeout", type=float, default=900, help="seconds of a file")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "jax_processes")
    return parser.parse_args()


def find_port():
    with socket.socket() as free:
        free.bind(("localhost", 0))
        return free.getsockname()[1]


def make_environment(platform, options):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMI"))}
    paths = [str(ROOT / "python"), str(options.tree)]
    # Some ask for a device of the host as well.
    wanted = "alula,cpu" if platform == "alula" else "cpu"
    environment |= {"JAX_PLATFORMS": wanted, "PYTHONPATH": os.pathsep.join(paths)}
    if platform == "cpu":
        return environment | {"JAX_NUM_CPU_DEVICES": str(options.devices)}
    environment |= {"ALULA_NUM_DEVICES": str(options.devices)}
    environment |= {"ALULA_COLLECTIVES_TIMEOUT": str(PATIENCE)}
    return environment | ({"ALULA_COLLECTIVES": "gloo"} if options.engine == "gloo" else {})


def make_command(file, platform, options):
    """Without the number of the process, which comes last."""
    words = [sys.executable, f"{file}_test.py", f"--num_processes={options.processes}"]
    words += [f"--multiprocess_test_controller_address=localhost:{find_port()}"]
    waits = ["heartbeat", "shutdown", "barrier", "initialization"]
    words += [f"--{name}_timeout={PATIENCE}" for name in waits]
    if platform == "cpu":
        words += ["--jax_cpu_collectives_implementation=gloo"]
    if options.match:
        words += [f"--test_filter={options.match}"]
    return words + ["--multiprocess_test_worker_id"]


def start(file, platform, folder, options):
    command = make_command(file, platform, options)
    environment = make_environment(platform, options)
    places = [folder / f"{file}.{platform}.{i}.log" for i in range(options.processes)]
    for place in places:
        place.unlink(missing_ok=True)
    if platform == "alula" and options.engine == "openmpi":
        # Each says who it is, and writes to a file of its own.
        log = f"{folder / file}.{platform}.$OMPI_COMM_WORLD_RANK.log"
        script = f'exec {" ".join(command)} $OMPI_COMM_WORLD_RANK >"{log}" 2>&1'
        launcher = ["mpirun", "--allow-run-as-root", "--oversubscribe"]
        commands = [[*launcher, "-n", str(options.processes), "sh", "-c", script]]
        outputs = [folder / f"{file}.mpirun.log"]
    else:
        commands = [[*command, str(i)] for i in range(options.processes)]
        outputs = places
    return places, [
        subprocess.Popen(
            command,
            cwd=options.tree / "tests" / "multiprocess",
            env=environment,
            stdout=open(output, "w"),
            stderr=subprocess.STDOUT,
        )
        for command, output in zip(commands, outputs, strict=True)
    ]


def wait(processes, seconds):
    """None when all ended by themselves, or what did not."""
    end = time.monotonic() + seconds
    try:
        for process in processes:
            process.wait(max(end - time.monotonic(), 0.1))
    except subprocess.TimeoutExpired:
        return "timeout"
    finally:
        for process in processes:
            process.kill()
            process.wait()
    codes = [process.returncode for process in processes]
    return f"exit status {codes}" if any(codes) else None


def read_outcomes(text):
    """By test; one that began and did not end has failed."""
    found = re.findall(r"^\[ RUN +\] (\S+)$", text, re.MULTILINE)
    outcomes = dict.fromkeys(found, "failed")
    for word, name in re.findall(r"^\[ +(OK|FAILED|SKIPPED) +\] (\S+)", text, re.MULTILINE):
        outcomes[name] = OUTCOMES[word]
    return outcomes


@dataclasses.dataclass
class Run:
    outcomes: dict
    seconds: float
    trouble: str | None = None


def run(file, platform, options):
    folder = options.out / options.engine
    folder.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    places, processes = start(file, platform, folder, options)
    trouble = wait(processes, options.timeout)
    texts = [p.read_text(errors="replace") if p.exists() else "" for p in places]
    all_of_them = [read_outcomes(text) for text in texts]
    outcomes = {}
    for name in sorted(set().union(*all_of_them)):
        each = {found.get(name, "failed") for found in all_of_them}
        outcomes[name] = each.pop() if len(each) == 1 else "failed"
    if outcomes and all(outcome != "failed" for outcome in outcomes.values()):
        # What follows the last test, as leaving the job, belongs to the file.
        outcomes |= {"(end)": "failed"} if trouble else {}
    return Run(outcomes, time.monotonic() - begin, trouble)


def main():
    options = parse_arguments()
    options.tree, options.out = options.tree.resolve(), options.out.resolve()
    if options.engine == "openmpi" and not shutil.which("mpirun"):
        sys.exit("there is no mpirun")
    folder = options.tree / "tests" / "multiprocess"
    files = options.files or sorted(
        path.stem.removesuffix("_test") for path in folder.glob("*_test.py")
    )
    print("| file | pass on XLA:CPU | of these here | seconds on XLA:CPU, here |", flush=True)
    print("|---|---|---|---|", flush=True)
    total, bad = [0, 0], []
    for file in files:
        runs = {
            platform: run(file, platform, options)
            for platform in ("cpu", "alula")
            if options.only in (None, platform)
        }
        theirs = runs.get("cpu", runs.get("alula"))
        ours = runs.get("alula", theirs)
        # Where no other platform runs, all should pass that do not skip themselves.
        counts = (lambda outcome: outcome != "skipped") if options.only else "passed".__eq__
        others = read_tests_of_others(file)
        wanted = [n for n, outcome in theirs.outcomes.items() if counts(outcome)]
        wanted = [name for name in wanted if name not in others]
        good = [name for name in wanted if ours.outcomes.get(name) == "passed"]
        bad += [f"{file}: {name}: {ours.trouble}" for name in wanted if name not in good]
        total = [total[0] + len(wanted), total[1] + len(good)]
        times = f"{theirs.seconds:.0f}, {ours.seconds:.0f}"
        print(f"| {file} | {len(wanted)} | {len(good)} | {times} |", flush=True)
    print(f"| all | {total[0]} | {total[1]} | |")
    for line in bad:
        print("FAILED", line)
    return 1 if bad or not total[1] else 0


if __name__ == "__main__":
    sys.exit(main())
