import pytest
from object_runs import BYO, CLANG, build, kernel, succeed, write_product


def pytest_collection_modifyitems(items):
    skip = pytest.mark.skip(reason="no clang-19 to compile objects with")
    for item in items:
        if not CLANG and "compiler/objects" in str(item.fspath):
            item.add_marker(skip)


@pytest.fixture
def product(tmp_path):
    return write_product(tmp_path)


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    """mul.c for two machines."""
    folder = tmp_path_factory.mktemp("objects")
    succeed("sh", BYO / "build_objects.sh", folder)
    return folder


@pytest.fixture
def several(tmp_path):
    """Objects that give 1, 2 and 3."""
    for number in (1, 2, 3):
        build(tmp_path, f"k{number}", kernel(f"c[i] = {number};"))
    return tmp_path
