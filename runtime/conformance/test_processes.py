"""Programs over several processes, by examples/processes/train.c: the same bits
however the devices are spread, and what becomes of the others when one of the
processes fails.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")
TRAIN = BUILD / "examples/example-train"
# What an error may take beyond its deadline, on a slow machine that does much else.
GRACE = 300
# A deadline, in milliseconds, that nothing here waits for.
LATER = 10 * GRACE * 1000
# One that is waited for, and that a step never takes.
SOON = 8000

needs_gloo = pytest.mark.skipif(
    not (BUILD / "lib/libalula_collectives_gloo.so").exists(),
    reason="the engine gloo is not built: no libgloo-dev",
)


def find_mpirun(kind):
    """mpirun of an MPI whose engine is built, with the flags that it needs here."""
    if not (BUILD / f"lib/libalula_collectives_{kind}.so").exists():
        pytest.skip(f"the engine {kind} is not built: no headers of it")
    mpirun = shutil.which(f"mpirun.{kind}") or shutil.which("mpirun")
    if not mpirun:
        pytest.skip("there is no mpirun")
    if kind == "openmpi":
        return [mpirun, "--allow-run-as-root", "--oversubscribe"]
    return [mpirun]


@pytest.fixture(scope="session")
def artifact(tmp_path_factory):
    return compile_step(tmp_path_factory.mktemp("step"), "0.005")


@pytest.fixture(scope="session")
def other_artifact(tmp_path_factory):
    return compile_step(tmp_path_factory.mktemp("other"), "0.004")


def compile_step(folder, rate):
    text = (ROOT / "examples/processes/step.mlir").read_text()
    assert "dense<0.005>" in text
    (folder / "step.mlir").write_text(text.replace("dense<0.005>", f"dense<{rate}>"))
    subprocess.run(
        [BUILD / "bin/alula-compile", folder / "step.mlir", "-o", folder / "step.alula"],
        check=True,
    )
    return folder / "step.alula"


@pytest.fixture(scope="session")
def expected(artifact):
    """What one process gives that has all devices."""
    done = subprocess.run([TRAIN, artifact], capture_output=True, text=True, check=True)
    line = done.stdout.splitlines()[-1]
    assert line.startswith("weights 1.0000 2.0000 3.0000, exactly")
    return line


class Processes:
    """Processes that find each other by a folder, with Gloo."""

    def __init__(self, folder, count, timeout):
        self.folder, self.count, self.timeout = folder, count, timeout
        self.all = []

    def start(self, number, artifact, steps=100_000_000):
        # 100,000,000 steps take longer than any test.
        command = [TRAIN, artifact, "--engine", "gloo", "--folder", self.folder]
        command += ["--process", number, "--processes", self.count]
        command += ["--timeout", self.timeout, "--steps", steps]
        process = subprocess.Popen(
            [str(word) for word in command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={k: v for k, v in os.environ.items() if not k.startswith("OMPI_")},
        )
        self.all.append(process)
        return process

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.all:
            process.kill()
            process.communicate()


def fails(process):
    """The message of a process that ends with an error, and in time."""
    start = time.monotonic()
    try:
        _, message = process.communicate(timeout=GRACE)
    except subprocess.TimeoutExpired:
        pytest.fail(f"nothing happened within {time.monotonic() - start:.1f} s")
    assert process.returncode == 1, message
    return message


def is_running(pid):
    try:
        # After the name, which is in parentheses: the state.
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def has_begun(processes):
    for process in processes:
        assert process.stdout.readline().endswith("has done a step\n")


@needs_gloo
@pytest.mark.parametrize("count", [2, 4])
def test_processes_of_gloo_give_the_same_bits(artifact, expected, tmp_path, count):
    with Processes(tmp_path, count, LATER) as group:
        members = [group.start(i, artifact, steps=500) for i in range(count)]
        outputs = [member.communicate(timeout=2 * GRACE) for member in members]
    assert [member.returncode for member in members] == [0] * count, outputs
    assert outputs[0][0].splitlines()[-1] == expected


@pytest.mark.parametrize("kind", ["openmpi", "mpich"])
@pytest.mark.parametrize("count", [2, 4])
def test_mpirun_gives_the_same_bits(artifact, expected, kind, count):
    done = subprocess.run(
        [*find_mpirun(kind), "-n", str(count), TRAIN, artifact],
        capture_output=True,
        text=True,
        timeout=2 * GRACE,
    )
    assert done.returncode == 0, done.stderr
    assert expected in done.stdout.splitlines()


@needs_gloo
def test_killed(artifact, tmp_path):
    with Processes(tmp_path, 4, LATER) as group:
        members = [group.start(i, artifact) for i in range(4)]
        has_begun(members)
        members[1].kill()
        for survivor in (0, 2, 3):
            # Its connection ends: nobody waits for the deadline.
            message = fails(members[survivor])
            assert re.search(rf"process 1 \(\S+, pid {members[1].pid}\)", message)


@needs_gloo
def test_stopped(artifact, tmp_path):
    with Processes(tmp_path, 4, SOON) as group:
        members = [group.start(i, artifact) for i in range(4)]
        has_begun(members)
        members[2].send_signal(signal.SIGSTOP)
        for survivor in (0, 1, 3):
            message = fails(members[survivor])
            name = rf"process 2 \(\S+, pid {members[2].pid}\)"
            assert re.search(
                name + rf" has not come to all_reduce #0 of call \d+ within {SOON} ms", message
            )
        # It sees that the others are gone as soon as it can see anything.
        members[2].send_signal(signal.SIGCONT)
        fails(members[2])


@needs_gloo
def test_another_program(artifact, other_artifact, tmp_path):
    with Processes(tmp_path, 2, LATER) as group:
        members = [group.start(0, artifact), group.start(1, other_artifact)]
        messages = [fails(member) for member in members]
    text = r"process {} \(\S+, pid {}\) runs another program than process {} in call 0"
    said = [re.search(text.format(1 - i, members[1 - i].pid, i), messages[i]) for i in range(2)]
    # Who finds it first tells the other.
    assert any(said), messages
    assert all("runs another program" in message for message in messages)


@needs_gloo
def test_late(artifact, expected, tmp_path):
    # In time.
    (tmp_path / "good").mkdir()
    with Processes(tmp_path / "good", 2, LATER) as group:
        first = group.start(0, artifact, steps=500)
        time.sleep(2)
        second = group.start(1, artifact, steps=500)
        assert first.communicate(timeout=GRACE)[0].splitlines()[-1] == expected
        second.communicate(timeout=GRACE)
        assert (first.returncode, second.returncode) == (0, 0)
    # Too late.
    with Processes(tmp_path, 2, 2000) as group:
        message = fails(group.start(0, artifact))
        assert "process 1 has not come within 2000 ms" in message
        late = group.start(1, artifact)
        assert "process 0" in fails(late)


@pytest.mark.parametrize("kind", ["openmpi"])
@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGSTOP])
def test_mpirun_ends_all(artifact, kind, signal_number):
    """mpirun ends the others of one that is killed; those of one that is stopped
    say so, and then it ends that one too."""
    command = [*find_mpirun(kind), "-n", "4", TRAIN, artifact]
    command += ["--timeout", SOON, "--steps", "100000000"]
    job = subprocess.Popen(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        pids = [
            int(re.fullmatch(r"pid (\d+) has done a step\n", job.stdout.readline())[1])
            for _ in range(4)
        ]
        os.kill(pids[1], signal_number)
        _, message = job.communicate(timeout=GRACE)
    finally:
        job.kill()
    assert job.returncode != 0
    if signal_number == signal.SIGKILL:
        assert re.search("exited on signal 9", message)
    else:
        assert re.search(rf"process \d \(\S+, pid {pids[1]}\) has not come to", message)
    give_up = time.monotonic() + GRACE
    while any(map(is_running, pids)) and time.monotonic() < give_up:
        time.sleep(0.05)
    assert not any(map(is_running, pids))


def test_missing_engine(artifact, tmp_path):
    done = subprocess.run(
        [TRAIN, artifact, "--engine", "pigeons", "--folder", tmp_path],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "there is no engine 'pigeons' for processes: " in done.stderr
    assert "libalula_collectives_pigeons.so" in done.stderr


@needs_gloo
def test_wrong_options(artifact, tmp_path):
    def run(*flags):
        done = subprocess.run(
            [TRAIN, artifact, "--folder", tmp_path, "--engine", "gloo", *flags],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 1
        return done.stderr

    assert "gloo: process 2 of 2 processes" in run("--process", "2", "--processes", "2")
    missing = str(tmp_path / "nowhere")
    assert "cannot write" in run("--folder", missing, "--processes", "1")
