"""The table of two builds."""

from bench.paired import summarize


def test_ratios_and_their_means():
    times = {
        "a": {"old": 2000.0, "new": 1000.0, "control": 2000.0},
        "b": {"old": 1000.0, "new": 2000.0, "control": 1100.0},
    }
    first, second, mean = (line.split() for line in summarize(times))
    assert first == ["a", "2.0", "us", "0.500", "1.000"]
    assert second == ["b", "1.0", "us", "2.000", "1.100"]
    assert mean == ["geometric", "mean", "1.000", "1.049"]
