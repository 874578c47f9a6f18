"""JAX's collectives over several GPUs by NCCL, on fakes of both: collective_snippets.py in
one process with four devices and in two with two each."""

import pathlib
import socket
import subprocess
import sys

import fake_gpu
import pytest

pytestmark = [fake_gpu.needs_build, fake_gpu.needs_plugin]
FILE = pathlib.Path(__file__).with_name("collective_snippets.py")


def start(*arguments, **environment):
    environment = fake_gpu.environment_of_jax() | {"JAX_PLATFORMS": "alula_cuda,cpu"} | environment
    return subprocess.Popen(
        [sys.executable, FILE, *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(processes):
    try:
        outputs = [process.communicate(timeout=1000) for process in processes]
    finally:
        for process in processes:
            process.kill()
    for process, (output, errors) in zip(processes, outputs):
        assert process.returncode == 0 and output.endswith("fine\n"), errors[-3000:]
        assert "misuse" not in errors, errors[-3000:]


def count_exchanges(log):
    """How often the exchanges of each kind and number of members are in the log."""
    counts = {}
    for line in log.read_text().splitlines():
        kind, rank = line.split()[:2]
        key = kind, int(rank.split("/")[1])
        counts[key] = counts.get(key, 0) + 1
    return counts


def test_four_devices(tmp_path):
    log = tmp_path / "log"
    flags = "--xla_force_host_platform_device_count=4"
    finish([start(FAKE_CUDA_DEVICES="4", FAKE_NCCL_LOG=str(log), XLA_FLAGS=flags)])
    counts = count_exchanges(log)
    kinds = {"AllReduce", "AllGather", "ReduceScatter", "Send", "Recv"}
    assert {kind for kind, members in counts if members == 4} >= kinds
    # Pairs, and the rows and columns of the mesh that trains.
    assert {kind for kind, members in counts if members == 2} >= {"AllReduce", "AllGather"}
    assert counts["Send", 4] == counts["Recv", 4]


def test_two_processes(tmp_path):
    if not (fake_gpu.BUILD / "lib/libalula_collectives_gloo.so").exists():
        pytest.skip("the engine gloo is not built")
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    log = tmp_path / "log"
    environment = {
        "FAKE_CUDA_DEVICES": "2",
        "FAKE_NCCL_LOG": str(log),
        "FAKE_NCCL_FOLDER": str(tmp_path),
        "ALULA_COLLECTIVES": "gloo",
        "ALULA_COLLECTIVES_TIMEOUT": "900",
        "ALULA_DEVICE_COLLECTIVES": "nccl",
    }
    finish([start(i, port, **environment) for i in range(2)])
    assert count_exchanges(log)["AllReduce", 4] == 2 * 4


def test_by_the_host(tmp_path):
    """Who does not want NCCL, or has none, gets all by the host's memory; who wants nothing
    else is told why there is none."""
    script = (
        "import jax, numpy as np\n"
        "mesh = jax.sharding.Mesh(np.array(jax.devices()), ('d',))\n"
        "spec = jax.sharding.PartitionSpec('d')\n"
        "f = jax.shard_map(lambda x: jax.lax.psum(x, 'd'), mesh=mesh, in_specs=spec,"
        " out_specs=jax.sharding.PartitionSpec())\n"
        "print(jax.jit(f)(np.arange(2.0)))\n"
    )
    log = tmp_path / "log"

    def run(**environment):
        ended = subprocess.run(
            [sys.executable, "-c", script],
            env=fake_gpu.environment_of_jax()
            | {"JAX_PLATFORMS": "alula_cuda", "FAKE_NCCL_LOG": str(log)}
            | environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return ended.stdout + ended.stderr

    assert "[1.]" in run(ALULA_DEVICE_COLLECTIVES="host")
    assert "[1.]" in run(FAKE_NCCL_VERSION="21000")
    assert not log.exists()
    said = run(FAKE_NCCL_VERSION="21000", ALULA_DEVICE_COLLECTIVES="nccl")
    assert "NCCL is too old: its version is 21000, at least 21800 is needed" in said
    said = run(ALULA_DEVICE_COLLECTIVES="pigeons")
    assert "ALULA_DEVICE_COLLECTIVES is 'pigeons', not nccl or host" in said
