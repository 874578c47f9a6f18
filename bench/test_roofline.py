"""The limit of a row."""

import pytest

from bench.roofline import bandwidth, best_of, limit

PEAKS = {
    "flops": {"f32": 100.0, "int8": 400.0},
    "read": {str(1 << 20): 200.0, str(1 << 24): 100.0},
    "copy": {str(1 << 20): 50.0, str(1 << 24): 20.0},
}


def work(flops=0.0, read=0.0, written=0.0, kind="f32"):
    return {"flops": flops, "read": read, "written": written, "kind": kind}


def test_bandwidth_lies_between_the_measured_sizes():
    assert bandwidth(PEAKS["read"], 1) == 200
    assert bandwidth(PEAKS["read"], 1 << 22) == pytest.approx(150)
    assert bandwidth(PEAKS["read"], 1 << 30) == 100


def test_arithmetic_by_its_kind():
    assert limit(work(flops=1e6), PEAKS) == pytest.approx(10)
    assert limit(work(flops=1e6, kind="int8"), PEAKS) == pytest.approx(2.5)
    assert limit(work(flops=1e6, kind="bf16"), PEAKS) == pytest.approx(10)


def test_reading_and_copying_have_their_own_speeds():
    assert limit(work(read=1e6), PEAKS) == pytest.approx(5)
    assert limit(work(read=5e5, written=5e5), PEAKS) == pytest.approx(20)


def test_a_neighbour_during_one_measurement_does_not_count():
    slow = {"flops": {"f32": 60.0, "int8": 500.0}, "read": PEAKS["copy"], "copy": PEAKS["read"]}
    both = best_of(PEAKS, slow)
    assert both == {
        "flops": {"f32": 100.0, "int8": 500.0},
        "read": PEAKS["read"],
        "copy": PEAKS["read"],
    }


def test_a_call_of_nothing_has_no_limit():
    assert limit(work(read=16, written=16), PEAKS) is None
