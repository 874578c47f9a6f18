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


def test_two_test_files_of_one_name_are_found():
    names = ["docs/test_a.py", "tests/test_a.py", "tests/test_b.py", "tests/a.py"]
    found = list(layers.check_test_names(names))
    assert found == ["tests/test_a.py: a test file with the base name of docs/test_a.py"]


def find_any_machine(text):
    return [
        problem.split(": ")[1]
        for problem in layers.check_any_machine("compiler/kernel/x.cpp", text)
    ]


def test_constants_of_machines_are_found():
    assert find_any_machine("constexpr int64_t panelBytes = 128;") == ["a constant of a machine"]
    text = "/// Enough for the cores of one socket.\nconstexpr int64_t most = 64;\n"
    assert find_any_machine(text) == ["a constant of a machine"]
    # What an algorithm wants is its own matter.
    text = "/// Insertion is faster up to here.\nconstexpr int64_t maxRun = 16;\n"
    assert find_any_machine(text) == []


def test_features_and_targets_are_found():
    for text in (
        'if (is_contained(features, "avx512vl"))',
        'bool isArm = triple == "aarch64";',
        '#include "llvm/TargetParser/Triple.h"',
        '#include "compiler/target/cpu/machine.h"',
    ):
        assert find_any_machine(text) == ["names a target"], text
    assert find_any_machine("// As on x86, by avx2.\nint x;") == []


def test_circles_are_found():
    texts = {
        "compiler/driver/a.h": '#include "compiler/driver/b.h"\n',
        "compiler/driver/b.cpp": '#include "compiler/driver/c.h"\n',
        "compiler/driver/b.h": "",
        "compiler/driver/c.h": "",
        "compiler/driver/c.cpp": '#include "compiler/driver/a.h"\n',
        "compiler/driver/d.cpp": '#include "compiler/driver/a.h"\n',
    }
    assert list(layers.check_circles(texts)) == [
        "compiler/driver/a: includes go in a circle:"
        " compiler/driver/a, compiler/driver/b, compiler/driver/c"
    ]
    texts["compiler/driver/c.cpp"] = ""
    assert list(layers.check_circles(texts)) == []
