"""Samples and what is said of them."""

import pytest
from bench import sampling
from bench.sampling import BATCH, sample, summarize


class Clock:
    """Time that passes only where somebody sleeps."""

    now = 0.0

    def perf_counter(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(sampling, "time", clock)
    return clock


def test_the_minimum_the_median_and_the_noise():
    said = summarize([12.0, 10.0, 11.0])
    assert said == {"minimum": 10.0, "median": 11.0, "noise": 11 / 10 - 1, "count": 3}


def test_the_median_of_an_even_number_lies_between():
    assert summarize([4.0, 1.0, 3.0, 2.0])["median"] == 2.5


def test_nothing_is_said_of_nothing():
    assert summarize([]) == {}


def test_a_sample_is_the_mean_of_a_batch(clock):
    calls = []

    def call():
        calls.append(1)
        clock.sleep(0.001 if len(calls) % 2 else 0.003)

    samples = sample(call, 3 * BATCH)
    assert samples == pytest.approx([2000] * len(samples), rel=0.3)
    assert len(samples) > 1 and len(calls) > 2 * len(samples)


def test_a_slow_call_is_a_batch(clock):
    assert sample(lambda: clock.sleep(2 * BATCH), 0) == pytest.approx([2 * BATCH * 1e6])


def test_a_first_call_that_is_slow_does_not_decide(clock):
    times = iter([5 * BATCH])
    samples = sample(lambda: clock.sleep(next(times, 1e-6)), 2 * BATCH)
    assert samples == pytest.approx([1] * len(samples), rel=1e-3)
