"""JAX in two processes with four devices each gives the bits of one with eight,
and an error where one of the processes fails."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")
SNIPPETS = Path(__file__).with_name("process_snippets.py")


def need(engine):
    if not (BUILD / f"lib/libalula_collectives_{engine}.so").exists():
        pytest.skip(f"the engine {engine} is not built")


def make_environment(devices, engine=None, timeout=1200):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMI"))}
    environment |= {"JAX_PLATFORMS": "alula,cpu", "ALULA_NUM_DEVICES": str(devices)}
    environment["ALULA_COLLECTIVES_TIMEOUT"] = str(timeout)
    if engine:
        environment["ALULA_COLLECTIVES"] = engine
    return environment


def find_port():
    with socket.socket() as free:
        free.bind(("localhost", 0))
        return str(free.getsockname()[1])


def start(*arguments, environment):
    return subprocess.Popen(
        [sys.executable, SNIPPETS, *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(processes):
    try:
        outputs = [process.communicate(timeout=2000) for process in processes]
    finally:
        for process in processes:
            process.kill()
    for process, (_, errors) in zip(processes, outputs):
        assert process.returncode == 0, errors[-3000:]
    # mpirun puts what processes write together, not always between lines.
    line = r"[a-z ]+(?: of [a-z0-9 ]+| \d)? device \d+: \w+ \([\d, ]*\) [0-9a-f]{16}"
    return sorted(found for output, _ in outputs for found in re.findall(line, output))


@pytest.fixture(scope="module")
def alone():
    """What one process gives that has all devices."""
    lines = finish([start(environment=make_environment(8))])
    assert len(lines) > 800
    return lines


def test_gloo(alone, tmp_path):
    need("gloo")
    environment, port = make_environment(4, "gloo"), find_port()
    environment["PROCESS_SNIPPETS_FOLDER"] = str(tmp_path)
    assert finish([start(i, 2, port, environment=environment) for i in range(2)]) == alone


def test_openmpi(alone, tmp_path):
    need("openmpi")
    if not shutil.which("mpirun"):
        pytest.skip("there is no mpirun")
    # What started them says which engine and which process.
    script = f'exec {sys.executable} {SNIPPETS} "$OMPI_COMM_WORLD_RANK" 2 {find_port()}'
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", "sh", "-c", script]
    environment = make_environment(4) | {"PROCESS_SNIPPETS_FOLDER": str(tmp_path)}
    job = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert finish([job]) == alone


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGSTOP])
def test_one_fails(signal_number):
    need("gloo")
    timeout = 10
    environment, port = make_environment(4, "gloo", timeout), find_port()
    processes = [start("loop", i, 2, port, environment=environment) for i in range(2)]
    try:
        for process in processes:
            assert "has begun" in process.stdout.readline()
        processes[1].send_signal(signal_number)
        output, errors = processes[0].communicate(timeout=600)
    finally:
        for process in processes:
            process.kill()
    assert processes[0].returncode == 3, errors[-3000:]
    assert re.search(rf"process 1 \(\S+, pid {processes[1].pid}\) (is gone|has not come)", output)


def test_no_engine():
    need("gloo")
    environment, port = make_environment(4, "pigeons"), find_port()
    processes = [start(i, 2, port, environment=environment) for i in range(2)]
    outputs = [process.communicate(timeout=2000) for process in processes]
    for process, (_, errors) in zip(processes, outputs):
        assert process.returncode != 0
        assert (
            "alula: processes can't be connected: there is no engine 'pigeons' for processes"
            in errors
        )
