"""Samples and what is said of them."""

import time

from bench.sampling import BATCH, sample, summarize


def test_the_minimum_the_median_and_the_noise():
    said = summarize([12.0, 10.0, 11.0])
    assert said == {"minimum": 10.0, "median": 11.0, "noise": 11 / 10 - 1, "count": 3}


def test_the_median_of_an_even_number_lies_between():
    assert summarize([4.0, 1.0, 3.0, 2.0])["median"] == 2.5


def test_nothing_is_said_of_nothing():
    assert summarize([]) == {}


def test_a_sample_is_the_mean_of_a_batch():
    calls = []

    def call():
        calls.append(1)
        time.sleep(0.001)

    samples = sample(call, 3 * BATCH)
    assert 1000 <= min(samples) < 10000
    assert len(calls) > len(samples)


def test_a_slow_call_is_a_batch():
    assert len(sample(lambda: time.sleep(2 * BATCH), 0)) == 1


def test_a_first_call_that_is_slow_does_not_decide():
    times = iter([5 * BATCH])
    samples = sample(lambda: time.sleep(next(times, 0)), 2 * BATCH)
    assert max(samples) < BATCH * 1e6
