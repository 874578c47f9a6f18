import pytest

from bench.grids import Dispatch, Machine, predict, read_trace, worst

MACHINE = Machine(wake=1e-6, cache=1 << 20, memory_cores=4)


def seconds(cores, *dispatches):
    """Of (seconds, workgroups, bytes)."""
    return MACHINE.seconds([Dispatch("k", *each) for each in dispatches], cores)


def test_workgroups_divide_what_a_kernel_takes():
    assert seconds(1, (64e-6, 64, 0)) == 64e-6
    assert seconds(16, (64e-6, 64, 0)) == pytest.approx(4e-6 + 4e-6)
    # One core has a second workgroup, and the others wait.
    assert seconds(16, (17e-6, 17, 0)) == pytest.approx(2e-6 + 4e-6)


def test_one_workgroup_stays_on_one_core():
    assert seconds(64, (5e-6, 1, 0)) == 5e-6


def test_kernels_that_run_together_have_a_core_each():
    assert seconds(1, (5e-6, 1, 0), (3e-6, 1, 0)) == pytest.approx(8e-6)
    assert seconds(2, (5e-6, 1, 0), (3e-6, 1, 0)) == pytest.approx(5e-6 + 1e-6)
    # Five workgroups of 1 us, then one of 4, on four cores.
    assert seconds(4, (5e-6, 5, 0), (4e-6, 1, 0)) == pytest.approx(5e-6 + 2e-6)


def test_memory_is_shared():
    inside = seconds(64, (1e-3, 64, 1 << 20))
    outside = seconds(64, (1e-3, 64, (1 << 20) + 1))
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
    total, launches = read_trace(events)
    assert total == pytest.approx(5e-6 + 8e-6 + 25e-6)
    assert launches == [
        [Dispatch("a", pytest.approx(8e-6), 6, 10)],
        [Dispatch("b", pytest.approx(25e-6), 1, 0)],
    ]


def test_dispatches_beside_are_one_launch():
    events = [
        event("call", "main", 0.0, 90.0, call=0),
        event("kernel", "a", 1.0, 8.0, grid="1x1x1"),
        event("kernel", "b", 12.0, 10.0, grid="1x1x1", beside=True),
        event("kernel", "c", 32.0, 10.0, grid="1x1x1"),
    ]
    _, launches = read_trace(events)
    assert [[each.kernel for each in together] for together in launches] == [["a", "b"], ["c"]]


def test_what_is_not_in_kernels_stays():
    launches = [[Dispatch("a", 8e-6, 8, 0)]]
    assert predict(10e-6, launches, Machine(0.0, 1, 4), 4) == pytest.approx(4e-6)


def test_the_kernel_that_loses_most_is_first():
    launches = [[Dispatch("shared", 80e-6, 64, 0)], [Dispatch("alone", 8e-6, 1, 0)]]
    found = worst(launches, Machine(0.0, 1, 4), 16)
    assert [each[0] for each in found] == ["alone", "shared"]
    assert found[0][2] == 1
