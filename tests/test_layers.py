"""The arrows between rooms hold, and the check itself can fail."""

import layers


def test_arrows_hold():
    assert layers.main() == 0


def test_a_forbidden_include_is_found():
    text = '#include "compiler/driver/registry.h"\n'
    found = list(layers.check_includes("runtime/base/arena.cpp", text))
    assert found == [
        "runtime/base/arena.cpp: runtime/base may not include compiler/driver"
        " (compiler/driver/registry.h)"
    ]


def test_names_of_no_subject_are_found():
    assert layers.FORBIDDEN_NAME.search("shape_utils.h")
    assert not layers.FORBIDDEN_NAME.search("shape_math.h")
