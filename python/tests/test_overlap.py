"""A sum over two processes is on its way while a product is computed: a profile shows
both at once. (That the step takes less time for it is for overlap_time.py to say, on a
machine that nobody else uses.)"""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")
PROGRAM = Path(__file__).with_name("overlap_program.py")

needs_gloo = pytest.mark.skipif(
    not (BUILD / "lib/libalula_collectives_gloo.so").exists(),
    reason="the engine gloo is not built: no libgloo-dev",
)


def run(folder, shell=("sh", "-c"), set_up="true"):
    """The factors of time that the first process says, and the seconds of a step. Both
    processes are started by one SHELL, after SET_UP."""
    folder.mkdir()
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    words = [f"{sys.executable} {PROGRAM} {i} {port} {folder}/{i}" for i in range(2)]
    script = f"{words[1]} >{folder}/other 2>&1 & other=$!; {words[0]} && wait $other"
    command = [*shell, f"{set_up} && {{ {script}; }}"]
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "OMPI_"))}
    environment = inherited | {
        "JAX_PLATFORMS": "alula",
        "ALULA_NUM_DEVICES": "1",
        "ALULA_COLLECTIVES": "gloo",
        "PYTHONPATH": str(ROOT / "python"),
    }
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=2000, check=False
    )
    other = (Path(folder) / "other").read_text()
    assert done.returncode == 0, done.stderr[-3000:] + other[-3000:]
    factors, seconds = (line.split() for line in done.stdout.splitlines()[-2:])
    assert (factors[0], seconds[0]) == ("factors", "seconds"), done.stdout
    return [float(word) for word in factors[1:]], float(seconds[1])


def read_events(folder):
    """What the profile of a process has of its device: (name, begin, end)."""
    import jax

    (path,) = Path(folder).glob("**/*.xplane.pb")
    planes = jax.profiler.ProfileData.from_file(str(path)).planes
    (plane,) = [plane for plane in planes if plane.name.startswith("/device:")]
    (ops,) = [line for line in plane.lines if line.name == "XLA Ops"]
    return [(e.name, e.start_ns, e.start_ns + e.duration_ns) for e in ops.events]


@needs_gloo
def test_a_sum_beside_a_product(tmp_path):
    folder = tmp_path / "run"
    run(folder)
    for process in range(2):
        events = read_events(folder / str(process))
        (total,) = [event for event in events if event[0].startswith("all_reduce")]
        inside = [e for e in events if e is not total and total[1] <= e[1] and e[2] <= total[2]]
        # Six products, some with what follows.
        assert len(inside) >= 6, events
