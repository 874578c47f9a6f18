"""Libraries that are found or missing, and `python -m alula`."""

import pathlib

import pytest

from alula import __main__ as main
from alula import errors
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
    assert main.main() == 0
    said = capsys.readouterr().out
    assert "libalula_runtime.so" in said and "jaxlib" in said
    monkeypatch.setattr(main, "_library", lambda *_: "missing: run ./dev build")
    assert main.main() == 1
    assert main._version("no-such-package") == "not installed"


def test_statuses():
    assert isinstance(errors.from_status(3, "invalid argument", "x"), ValueError)
    assert isinstance(errors.from_status(8, "resource exhausted", "x"), MemoryError)
    assert isinstance(errors.from_status(5, "not found", "x"), LookupError)
    other = errors.from_status(12, "unimplemented", "x")
    assert type(other) is errors.AlulaError and other.code == "unimplemented"
