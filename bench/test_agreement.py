"""Errors of results against the reference."""

import ml_dtypes
import numpy as np
import pytest

from bench.agreement import largest_error, type_text


def test_the_text_of_a_type():
    assert type_text(np.zeros((2, 3), np.float32)) == "2x3xf32"
    assert type_text(np.zeros((), np.int32)) == "i32"
    assert type_text(np.zeros(4, ml_dtypes.bfloat16)) == "4xbf16"


def test_the_largest_difference_by_the_largest_value():
    reference = np.array([[1.0, -4.0]])
    assert largest_error([np.array([1.0, -3.0], np.float32)], [reference]) == 0.25


def test_the_worst_result_counts():
    references = [np.ones(2), np.ones(2)]
    assert largest_error([np.ones(2), np.array([1, 1.5])], references) == 0.5


def test_what_is_not_finite_is_wrong():
    assert largest_error([np.array([np.nan])], [np.ones(1)]) == float("inf")


def test_another_number_or_shape_of_results_is_an_error():
    with pytest.raises(ValueError, match="0 results instead of 1"):
        largest_error([], [np.ones(1)])
    with pytest.raises(ValueError, match=r"a result of shape \(3,\), not \(2,\)"):
        largest_error([np.ones(3)], [np.ones(2)])
