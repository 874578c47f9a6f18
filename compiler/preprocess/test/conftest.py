import pytest
from preprocess_runs import write_program


@pytest.fixture
def m2(tmp_path):
    return write_program(tmp_path, 2)


@pytest.fixture
def temporary(tmp_path):
    """Where runs have their folders."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder
