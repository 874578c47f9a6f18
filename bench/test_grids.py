import pytest

from bench.grids import Kernel, Machine, predict, read_trace, worst

MACHINE = Machine(wake=1e-6, cache=1 << 20, memory_cores=4)


def test_workgroups_divide_what_a_kernel_takes():
    assert MACHINE.seconds(64e-6, 64, 0, 1) == 64e-6
    assert MACHINE.seconds(64e-6, 64, 0, 16) == pytest.approx(4e-6 + 4e-6)
    # One core has a second workgroup, and the others wait.
    assert MACHINE.seconds(17e-6, 17, 0, 16) == pytest.approx(2e-6 + 4e-6)


def test_one_workgroup_stays_on_one_core():
    assert MACHINE.seconds(5e-6, 1, 0, 64) == 5e-6


def test_memory_is_shared():
    inside = MACHINE.seconds(1e-3, 64, 1 << 20, 64)
    outside = MACHINE.seconds(1e-3, 64, (1 << 20) + 1, 64)
    assert inside == pytest.approx(1e-3 / 64 + 6e-6)
    assert outside == pytest.approx(1e-3 / 4 + 6e-6)


def event(kind, name, start, duration, **arguments):
    return {"cat": kind, "name": name, "ts": start, "dur": duration, "args": arguments}


def test_dispatches_take_what_they_take_at_best():
    events = [
        {"ph": "M", "name": "process_name"},
        event("call", "main", 0.0, 90.0, call=0),
        event("kernel", "a", 1.0, 8.0, grid="2x3x1", bytes=10),
        event("kernel", "b", 12.0, 70.0, grid="1x1x1"),
        event("call", "main", 100.0, 40.0, call=1),
        event("kernel", "a", 101.0, 10.0, grid="2x3x1", bytes=10),
        event("kernel", "b", 112.0, 25.0, grid="1x1x1"),
        # Another branch.
        event("call", "main", 200.0, 41.0, call=2),
        event("kernel", "c", 201.0, 1.0, grid="1x1x1"),
    ]
    seconds, kernels = read_trace(events)
    assert seconds == pytest.approx(5e-6 + 8e-6 + 25e-6)
    assert kernels["a"].dispatches == [(pytest.approx(8e-6), 6, 10)]
    assert kernels["b"].dispatches == [(pytest.approx(25e-6), 1, 0)]
    assert list(kernels) == ["a", "b"]


def test_what_is_not_in_kernels_stays():
    kernel = Kernel()
    kernel.dispatches.append((8e-6, 8, 0))
    assert predict(10e-6, {"a": kernel}, Machine(0.0, 1, 4), 4) == pytest.approx(4e-6)


def test_the_kernel_that_loses_most_is_first():
    alone, shared = Kernel(), Kernel()
    alone.dispatches.append((8e-6, 1, 0))
    shared.dispatches.append((80e-6, 64, 0))
    found = worst({"shared": shared, "alone": alone}, Machine(0.0, 1, 4), 16)
    assert [each[0] for each in found] == ["alone", "shared"]
    assert found[0][2] == 1
