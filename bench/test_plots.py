"""Charts are SVG that an XML reader takes, with what was measured in it."""

from xml.etree import ElementTree

import pytest

from bench.page import page
from bench.plots import WIDTH, bars, legend, position, ticks
from bench.tables import NAMES
from bench.test_tables import entry, made_up


def test_ticks_are_round():
    assert ticks(0, 100, False) == pytest.approx([0, 20, 40, 60, 80, 100])
    assert ticks(0.3, 30, True) == pytest.approx([0.5, 1, 2, 5, 10, 20])
    assert ticks(1, 1e6, True) == pytest.approx([10.0**e for e in range(7)])


def test_positions_stay_on_the_axis():
    assert position(10, 1, 100, True) == pytest.approx(WIDTH / 2)
    assert position(25, 0, 100, False) == pytest.approx(WIDTH / 4)
    assert position(1e9, 1, 100, True) == WIDTH
    assert position(0, 1, 100, True) == 0


def test_a_bar_for_each_value():
    text = bars([("a < b", {"alula": 1.0, "xla": 2.0}), ("c", {"xla": 3.0})], NAMES)
    root = ElementTree.fromstring(text)
    widths = [float(rect.get("width")) for rect in root.iter("rect")]
    assert len(widths) == 3
    assert widths[1] == pytest.approx(2 * widths[0], rel=0.01)
    assert "a &lt; b" in text


def test_nothing_measured_is_said():
    assert bars([("a", {})], NAMES) == "<p>Nothing was measured.</p>"


def test_the_legend_has_all_names():
    assert all(name in legend(NAMES) for name in NAMES.values())


def test_the_page_is_whole_and_loads_nothing():
    peaks = {"flops": {"f32": 500.0}, "read": {"1048576": 100.0}, "copy": {"1048576": 90.0}}
    data = {
        "machine": {
            "date": "a day",
            "processor": "a <processor>",
            "cpus": 2,
            "load": 0.0,
            "alula": "abc",
            "versions": {"jax": "1"},
        },
        "rounds": 3,
        "seconds": 0.1,
        "peaks": {"2": peaks},
        "cells": [
            made_up(
                alula=entry(10.0, compile_ms=5.0, artifact_bytes=3000, peak_kib=2000),
                xla=entry(20.0, compile_ms=9.0),
                iree={"failed": "it broke"},
            )
        ],
    }
    text = page(data)
    assert text.count("<svg") == 5
    assert "src=" not in text and "http" not in text
    assert "it broke" in text and "a &lt;processor&gt;" in text
    assert "NumPy" in text and "<b>20.0</b>" in text
    for part in text.split("<svg")[1:]:
        ElementTree.fromstring("<svg" + part.split("</svg>")[0] + "</svg>")
