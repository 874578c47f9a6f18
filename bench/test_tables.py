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
    assert tables.speed(cell, "alula") is None
    assert tables.speed(cell, "alula-jax") == 2.5


def test_c_is_held_against_c_and_python_against_python():
    cell = made_up(
        alula=entry(10.0),
        openvino=entry(12.0),
        onnxruntime=entry(15.0),
        alula_jax=entry(20.0),
        xla=entry(10.0),
        numpy=entry(5.0),
    )
    assert tables.speed(cell, "alula") == 1.2
    assert tables.speed(cell, "alula-jax") == 0.25


def test_without_a_peer_or_a_right_result_there_is_no_ratio():
    assert tables.speed(made_up(alula=entry(10.0)), "alula") is None
    cell = made_up(alula=entry(1.0, right=False), iree=entry(2.0))
    assert tables.speed(cell, "alula") is None


def test_a_row_of_the_table():
    cell = made_up(
        alula=entry(10.0),
        xla=entry(20.0),
        iree={"failed": "over 20 s"},
        numpy={"unable": "not written in NumPy"},
        onnxruntime=entry(1.0, right=False),
        openvino=entry(15.0),
    )
    header, _, line = tables.time_table([cell]).splitlines()
    assert header.startswith("| row | Alula | IREE | onnxruntime | OpenVINO | XLA:CPU | NumPy |")
    assert line == (
        "| a row | 10.0 | failed | wrong (5e-01) | **15.0** | 20.0 | – | 1.50 | – | 50 | 10 % |"
    )


def test_who_rounds_stands_beside_who_rounds_alike():
    cell = made_up(
        alula=entry(10.0),
        alula_bf16=entry(5.0),
        openvino_bf16=entry(4.0),
        ggml={"unable": "no weights of few bits"},
    )
    exact = made_up(alula=entry(1.0), xla=entry(1.0))
    lines = tables.rounded_table([exact, cell]).splitlines()
    assert lines[2:] == ["| a row | 5.00 | 4.00 | 0.80 | – | – | – |"]
    assert tables.best_other(cell) is None
    assert tables.rounded_table([exact]) is None


def test_how_alula_stands():
    cells = [made_up(alula=entry(10.0), iree=entry(x)) for x in (20.0, 9.0, 5.0)]
    said = tables.standing(cells)
    assert said.startswith("From C: at least 1.0 × the best on 1 of 3, at least 0.8 × on 2;")
    assert f"{tables.geometric_mean([2, 0.9, 0.5]):.2f} ×" in said
    assert "Python" not in said
    cells = [made_up(alula_jax=entry(10.0), xla=entry(20.0))]
    assert tables.standing(cells).startswith("From Python: at least 1.0 × the best on 1 of 1,")
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
