"""The other kinds of parallelism_snippets.py: those that exchange pieces.
test_snippets.py runs this file."""

import pytest
from parallelism_snippets import KINDS, check

DEVICES = 8


@pytest.mark.parametrize("name", ["expert", "pipeline", "space"])
def test_kinds_that_exchange(name):
    assert name in KINDS
    check(name)
