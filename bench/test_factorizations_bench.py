"""The table of factorizations: its cases, and what judges their results."""

import numpy as np
import pytest

from bench.factorizations import KINDS, judge, list_cases, make_inputs

EPSILON = float(np.finfo(np.float64).eps)


def test_every_kind_of_each_size():
    names = [name for name, *_ in list_cases("")]
    assert len(set(names)) == len(names)
    assert {kind for _, kind, *_ in list_cases("")} == set(KINDS)
    assert [name for name, *_ in list_cases("svd 1 x 500", ["f64"])] == ["svd 1 x 500 f64"]


@pytest.mark.parametrize("dtype", ["f64", "c128"])
@pytest.mark.parametrize("kind", ["cholesky", "qr", "inverse", "eigh", "svd", "eig"])
def test_numpy_is_right_and_a_changed_result_is_not(kind, dtype):
    inputs = make_inputs(kind, 3, 6, dtype)
    function = {"inverse": np.linalg.inv}.get(kind) or getattr(np.linalg, kind)
    results = function(*inputs)
    results = list(results) if isinstance(results, tuple) else results
    assert max(judge(kind, inputs, results, EPSILON)) < 100
    changed = results[-1] if isinstance(results, list) else results
    changed = changed * (1 + 1e-6)
    wrong = [*results[:-1], changed] if isinstance(results, list) else changed
    if kind == "eig":
        wrong = [results[0] * (1 + 1e-6), results[1]]
    assert max(judge(kind, inputs, wrong, EPSILON)) > 1e6
