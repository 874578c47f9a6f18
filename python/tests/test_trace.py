"""alula-run --trace: a file for Perfetto with a track of calls, one of commands and one
of each thread, and a table."""

import itertools
import json
import subprocess

import pytest
from program_tools import BUILD

MODEL = """
func.func @main(%x: tensor<512x256xf32>, %w: tensor<256x256xf32>) -> tensor<512x256xf32> {
  %d = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<512x256xf32>, tensor<256x256xf32>) -> tensor<512x256xf32>
  %t = stablehlo.tanh %d : tensor<512x256xf32> loc("jit(f)/\\"tanh\\""("model.py":7:1))
  %s = stablehlo.dot_general %t, %w, contracting_dims = [1] x [0]
    : (tensor<512x256xf32>, tensor<256x256xf32>) -> tensor<512x256xf32>
  return %s : tensor<512x256xf32>
}
"""
CALLS = 3


def run(*command):
    return subprocess.run(
        [*map(str, command)], capture_output=True, text=True, check=True, timeout=2000
    )


@pytest.fixture(scope="module", params=["known", "not known"])
def traced(request, tmp_path_factory):
    """Whether the artifact knows its kernels, the events and the table."""
    folder = tmp_path_factory.mktemp("trace")
    (folder / "model.mlir").write_text(MODEL)
    is_known = request.param == "known"
    run(
        BUILD / "bin/alula-compile", folder / "model.mlir", "-o", folder / "model.alula",
        "--target=cpu:host", *(["--debug=1"] if is_known else []),
    )  # fmt: skip
    said = run(
        BUILD / "bin/alula-run", folder / "model.alula", "--random", "--threads=2",
        f"--repeat={CALLS}", f"--trace={folder / 'trace.json'}", f"--output={folder / 'y.npy'}",
    )  # fmt: skip
    assert said.stdout == ""
    # Strict: no comments, no trailing commas, no control characters.
    trace = json.loads((folder / "trace.json").read_text())
    return is_known, trace["traceEvents"], said.stderr


def read_tracks(events):
    """Names of tracks, and the events on them in the order of their begin."""
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    tracks = {name: [] for name in names.values()}
    for event in events:
        if event["ph"] == "X":
            tracks[names[event["tid"]]].append(event)
    return {name: sorted(found, key=lambda e: e["ts"]) for name, found in tracks.items()}


def end(event):
    return event["ts"] + event["dur"]


def is_within(inner, outer):
    slack = 0.0015  # rounded to nanoseconds
    return inner["ts"] >= outer["ts"] - slack and end(inner) <= end(outer) + slack


def test_tracks(traced):
    _, events, _ = traced
    assert {e["ph"] for e in events} == {"M", "X"} and {e["pid"] for e in events} == {1}
    (process,) = (e for e in events if e["name"] == "process_name")
    assert process["args"]["name"].endswith("model.alula")
    tracks = read_tracks(events)
    assert {"calls", "queue 0", "thread 0, the caller"} <= set(tracks) <= {
        "calls", "queue 0", "thread 0, the caller", "thread 1",
    }  # fmt: skip
    for found in tracks.values():
        for before, after in itertools.pairwise(found):
            assert end(before) <= after["ts"] + 0.0015
    calls, commands = tracks["calls"], tracks["queue 0"]
    assert [c["name"] for c in calls] == ["main"] * CALLS
    assert [c["args"]["call"] for c in calls] == list(range(CALLS))
    assert [c["name"] for c in commands] == ["main_0", "main_1"] * CALLS
    assert all(is_within(c, calls[i // 2]) for i, c in enumerate(commands))


def test_threads_share_the_grid(traced):
    _, events, _ = traced
    tracks = read_tracks(events)
    parts = [e for name, found in tracks.items() if name.startswith("thread") for e in found]
    for command in tracks["queue 0"]:
        mine = [p for p in parts if is_within(p, command)]
        assert {p["name"] for p in mine} == {command["name"]}
        x, y, z = map(int, command["args"]["grid"].split("x"))
        assert sum(p["args"]["workgroups"] for p in mine) == x * y * z


def test_what_commands_do(traced):
    is_known, events, _ = traced
    commands = read_tracks(events)["queue 0"]
    size, weights = 4 * 512 * 256, 4 * 256 * 256
    assert {c["args"]["bytes"] for c in commands} == {2 * size + weights}
    known = [c["args"] for c in commands[:2]]
    if not is_known:
        assert all(set(args) == {"grid", "bytes"} for args in known)
        return
    assert [args["flops"] for args in known] == [2 * 512 * 256 * 256] * 2
    assert [args["transcendentals"] for args in known] == [512 * 256, 0]
    assert {args["bytes moved"] for args in known} == {2 * size + weights}
    assert known[0]["operations"] == "dot_general tanh"
    assert known[0]["name"] == 'jit(f)/"tanh"' and known[0]["source"] == "model.py:7"


def test_table(traced):
    is_known, _, table = traced
    head, *rows, last = table.splitlines()
    assert head.split()[:5] == ["command", "runs", "time", "share", "each"]
    assert head.split()[5:] == (["flop/s", "B/s", "what"] if is_known else ["B/s"])
    assert {row.split()[0] for row in rows} == {"main_0", "main_1"}
    assert all(row.split()[1] == str(CALLS) for row in rows)
    shares = [float(row.split()[4]) for row in rows]
    assert shares == sorted(shares, reverse=True) and 0 < sum(shares) <= 100.1
    assert last.split()[:3] == ["in", "calls", str(CALLS)]
    (first,) = (row for row in rows if row.startswith("main_0"))
    assert first.endswith("dot_general tanh, model.py:7") == is_known
