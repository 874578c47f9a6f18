"""Tables of results that are made up."""

import pytest

from bench import tables


def entry(minimum, right=True, **more):
    return {
        "minimum": minimum,
        "median": minimum * 1.1,
        "noise": 0.1,
        "error": 1e-7 if right else 0.5,
        "right": right,
    } | more


def made_up(**peers):
    cell = {"row": "r", "title": "a row", "size": "usual", "threads": 2, "limit": 5.0}
    return cell | {"peers": {name.replace("_", "-"): e for name, e in peers.items()}}


def test_three_digits():
    assert [tables.figure(v) for v in (0.0812, 4.47, 62.34, 1234.5)] == [
        "0.08",
        "4.47",
        "62.3",
        "1234",
    ]
    assert [tables.size_text(v) for v in (119, 5560, 2740000, 3e9)] == [
        "119 B",
        "5.56 KB",
        "2.74 MB",
        "3.00 GB",
    ]


def test_the_best_peer_is_not_alula_and_is_right():
    cell = made_up(
        alula=entry(10.0), alula_jax=entry(8.0), xla=entry(20.0), iree=entry(1.0, right=False)
    )
    assert tables.best_other(cell) == (20.0, "xla")
    assert tables.speed(cell) == 2.0


def test_without_a_peer_or_a_right_result_there_is_no_ratio():
    assert tables.speed(made_up(alula=entry(10.0))) is None
    assert tables.speed(made_up(alula=entry(1.0, right=False), xla=entry(2.0))) is None


def test_a_row_of_the_table():
    cell = made_up(
        alula=entry(10.0),
        xla=entry(20.0),
        iree={"failed": "over 20 s"},
        numpy={"unable": "not written in NumPy"},
        onnxruntime=entry(1.0, right=False),
    )
    line = tables.time_table([cell]).splitlines()[2]
    assert line == "| a row | 10.0 | **20.0** | failed | wrong (5e-01) | – | 2.00 | 50 | 10 % |"


def test_how_alula_stands():
    cells = [made_up(alula=entry(10.0), xla=entry(x)) for x in (20.0, 9.0, 5.0)]
    said = tables.standing(cells)
    assert said.startswith("At least 1.0 × the best peer on 1 of 3, at least 0.8 × on 2;")
    assert f"{tables.geometric_mean([2, 0.9, 0.5]):.2f} ×" in said
    assert tables.standing([]) == "No row to compare.\n"


def test_the_geometric_mean():
    assert tables.geometric_mean([2.0, 0.5]) == pytest.approx(1)
    assert tables.geometric_mean([]) is None


def test_what_failed_is_told():
    cell = made_up(alula=entry(1.0, right=False), iree={"failed": "over 20 s"})
    assert tables.problems({"cells": [cell]}) == [
        "r usual, 2 threads: alula: its error is 5.0e-01",
        "r usual, 2 threads: iree: over 20 s",
    ]


def test_most_threads_and_usual_sizes_come_first():
    cells = [{"threads": t, "size": s} for t in (1, 2) for s in ("odd", "usual")]
    assert tables.groups({"cells": cells}) == [(2, "usual"), (2, "odd"), (1, "usual"), (1, "odd")]
