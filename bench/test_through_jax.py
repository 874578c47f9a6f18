"""What the rows in JAX are held against."""

import numpy as np
import pytest

from bench.through_jax import excess, parse, sample, widen


def test_a_tenth_is_allowed():
    assert excess(1.1e-3, 1e-3) == pytest.approx(0)
    assert excess(14e-6, 10e-6) == pytest.approx(3)


def test_a_sample_is_the_mean_of_many_calls():
    calls = []
    assert 0 < sample(lambda: calls.append(1)) < 1
    assert len(calls) > 3


def test_floats_become_doubles_and_integers_stay():
    got = widen({"x": np.zeros(2, np.float32), "i": [np.zeros(2, np.int32)]})
    assert got["x"].dtype == np.float64 and got["i"][0].dtype == np.int32


def test_options():
    options = parse(["--rows", "softmax", "--f64", "--rounds", "3"])
    assert options.rows == "softmax" and options.f64 and options.rounds == 3
