"""The table of Fourier transforms."""

from bench.fourier import list_cases
from bench.turns import measure, summarize


def test_ratios_are_of_neighbours_in_time():
    # A machine that was busy for a round slows both peers of it.
    row = summarize({"alula": [1e-6, 10e-6, 2e-6], "xla": [2e-6, 20e-6, 5e-6]})
    assert row == {"microseconds": 1.0, "xla": 2.0}


def test_peers_take_turns():
    calls, ticks = [], iter(range(1000))
    peers = {"alula": lambda: calls.append("a"), "xla": lambda: calls.append("x")}
    times = measure(peers, 2, lambda: next(ticks))
    assert len(times["alula"]) == len(times["xla"]) == 2
    assert "".join(calls).replace("aa", "a")[0] == "a" and set(calls) == {"a", "x"}
    measured = [call for call in calls[4:]]
    assert measured[0] == "a" and measured[-1] == "a"


def test_every_kind_and_type_of_each_shape():
    names = [name for name, *_ in list_cases("")]
    assert len(set(names)) == len(names) and len(names) % 8 == 0
    assert [name for name, *_ in list_cases("irfft 1 x 1000x999 f64")] == ["irfft 1 x 1000x999 f64"]
