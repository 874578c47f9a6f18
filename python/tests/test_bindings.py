"""Libraries that are found or missing, and `python -m alula`."""

import pathlib
import platform
import re
import sys

import numpy as np
import pytest

import alula
from alula import __main__ as main
from alula import environment, errors
from alula.bindings import library


def test_missing_library(monkeypatch):
    monkeypatch.delenv("ALULA_NOTHING", raising=False)
    with pytest.raises(
        ImportError, match="libnothing.so is missing: set ALULA_NOTHING, or build it"
    ):
        library.find("libnothing.so", "ALULA_NOTHING")
    monkeypatch.setenv("ALULA_NOTHING", "/elsewhere/libnothing.so")
    assert library.find("libnothing.so", "ALULA_NOTHING") == pathlib.Path(
        "/elsewhere/libnothing.so"
    )


def test_main(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["alula"])
    assert main.main() == 0
    said = capsys.readouterr().out
    assert "libalula_runtime.so" in said and "jaxlib" in said
    monkeypatch.setattr(environment, "_library", lambda *_: "missing: run ./dev build")
    assert main.main() == 1
    assert environment._version("no-such-package") == "not installed"


def test_environment_info(capsys, monkeypatch):
    monkeypatch.setenv("ALULA_NUM_DEVICES", "3")
    assert alula.print_environment_info() is None
    said = capsys.readouterr().out
    assert alula.print_environment_info(return_string=True) + "\n" == said
    info = environment.get_environment_info()
    assert info["alula"] == alula.__version__ and info["ALULA_NUM_DEVICES"] == "3"
    assert info["numpy"] == np.__version__ and re.fullmatch(r"19\.\d+\.\d+", info["LLVM"])
    assert info["plugin"].endswith("pjrt_plugin_alula.so")
    assert info["runtime"].endswith("libalula_runtime.so")
    assert platform.machine() in info["processor"]
    assert all(f"{value}" in said for value in info.values())


def test_statuses():
    assert isinstance(errors.from_status(3, "invalid argument", "x"), ValueError)
    assert isinstance(errors.from_status(8, "resource exhausted", "x"), MemoryError)
    assert isinstance(errors.from_status(5, "not found", "x"), LookupError)
    other = errors.from_status(12, "unimplemented", "x")
    assert type(other) is errors.AlulaError and other.code == "unimplemented"
