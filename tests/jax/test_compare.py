"""The comparison that judges everything must itself be right."""

import compare
import exact
import ml_dtypes
import numpy as np
import pytest
import tensor_file
import wider

F32 = np.float32


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
def test_ulp_distance_counts_neighbours(dtype):
    one = np.array([1, 0, -1], dtype)
    up = np.nextafter(one, np.array(2, dtype))
    assert compare.ulp_distance(one, up).tolist() == [1, 1, 1]
    zeros = compare.ulp_distance(np.array([0.0], dtype), np.array([-0.0], dtype))
    assert zeros.tolist() == [0]


def test_ulp_distance_crosses_zero():
    tiny = np.array([5e-324])
    assert compare.ulp_distance(tiny, -tiny).tolist() == [2]


def test_integers_must_be_equal():
    difference = compare.compare(np.array([1, 3]), np.array([1, 2]), accumulates=True)
    assert difference.text == "1 of 2 elements differ, at [1] 3 is not 2"


def test_nan_agrees_with_nan_only():
    nan, one = np.array([np.nan], F32), np.array([1], F32)
    assert compare.compare(nan, nan, accumulates=False) is None
    assert compare.compare(nan, one, accumulates=True) is not None
    assert compare.compare(one, nan, accumulates=True) is not None


def test_infinity_is_not_near_the_largest_number():
    largest = np.array([np.finfo(F32).max])
    assert compare.compare(largest, np.array([np.inf], F32), accumulates=True) is not None


def test_sums_are_compared_with_the_largest_value():
    ours, theirs = np.array([1e6, 1e-3], F32), np.array([1e6, 2e-3], F32)
    assert compare.compare(ours, theirs, accumulates=True) is None
    assert compare.compare(ours, theirs, accumulates=False) is not None


def test_both_parts_of_a_complex_number_count():
    ours, theirs = np.array([1 + 1e-3j], np.complex64), np.array([1 + 2e-3j], np.complex64)
    assert compare.compare(ours, theirs, accumulates=False) is not None
    assert compare.compare(ours, ours, accumulates=False) is None
    assert compare.compare(ours[0], theirs[0], accumulates=False) is not None


def test_shapes_and_types_must_match():
    difference = compare.compare(np.ones(2, F32), np.ones(3, F32), accumulates=False)
    assert difference.text == "float32(2,) against float32(3,)"


def test_flushed_denormals_are_told_apart():
    ours, theirs = np.array([1e-40, 1], F32), np.array([0, 1], F32)
    difference = compare.compare(ours, theirs, accumulates=False)
    assert compare.flushed(ours, theirs, difference.where)
    assert not compare.flushed(theirs, ours, difference.where)


def test_a_known_difference_may_have_a_limit():
    ours, theirs = np.array([1e-6, np.nan], F32), np.array([0, np.nan], F32)
    assert compare.within(ours, theirs, None)
    assert compare.within(ours, theirs, 16)
    assert not compare.within(ours, theirs, 4)


def test_widening_text():
    text = "%0 = stablehlo.constant dense<0x7FC00000> : tensor<2xf32>"
    assert wider.widen_text(text) == (
        "%0 = stablehlo.constant dense<0x7FF8000000000000> : tensor<2xf64>"
    )
    assert wider.widen_type("tensor<complex<f32>>") == "tensor<complex<f64>>"
    assert wider.widen_type("tensor<2xf8E4M3FN>") == "tensor<2xf8E4M3FN>"
    assert wider.widen_text("stablehlo.bitcast_convert : tensor<2xf32>") is None
    assert wider.widen_text("tensor<2xf64>") is None


def test_the_nearer_result_wins():
    truth = np.array([1.0, 2.0])
    ours, theirs = np.array([1.0, 2.0], F32), np.array([1.1, 2.0], F32)
    everywhere = np.ones(2, bool)
    assert wider.nearer(ours, theirs, truth, everywhere, slack=0)
    assert not wider.nearer(theirs, ours, truth, everywhere, slack=0)
    assert wider.nearer_as_a_whole(ours, theirs, truth)
    assert not wider.nearer_as_a_whole(theirs, ours, truth)


def test_mpmath_judges_programs_in_f64():
    everywhere = np.ones(2, bool)
    truth = exact.truth("log1p", "", [np.array([1e-20, -3.0])], everywhere)
    assert truth[0] == 1e-20
    assert np.isnan(truth[1])
    assert exact.truth("sqrt", "", [np.array([-4, 2], np.complex128)], everywhere)[0] == 2j
    cubes = exact.truth("integer_pow", "x_y_-3", [np.array([2.0, 1.0])], everywhere)
    assert cubes.tolist() == [0.125, 1]
    assert exact.truth("no such primitive", "", [], everywhere) is None


@pytest.mark.parametrize("name", ["i1", "i4", "bf16", "f8E5M2", "complex<f64>"])
def test_tensor_files_keep_values(tmp_path, name):
    array = tensor_file.to_array([[1], [0]], f"2x1x{name}")
    tensor_file.write(array, tmp_path / "a.bin")
    assert (tmp_path / "a.bin").stat().st_size == 2 * array.dtype.itemsize
    assert (tensor_file.read(tmp_path / "a.bin", f"2x1x{name}") == array).all()
