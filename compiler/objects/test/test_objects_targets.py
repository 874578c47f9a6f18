"""Which object is for which target."""

import pytest
from object_runs import (
    HEADER,
    attach,
    build,
    call,
    compile,
    fail,
    inspect,
    kernel,
    objects_tool,
    substitute,
)


def test_the_most_specific_pattern_wins(several, product):
    patterns = [("cpu", "k1.o"), ("cpu:x86_64", "k2.o"), ("cpu:x86_64+avx2+fma", "k3.o")]
    for target, number in {"cpu:x86-64-v3": 3, "cpu:x86-64": 2}.items():
        compile(
            product, objects_tool(several, *patterns), folder=several, target=f"--target={target}"
        )
        got = call("out.alula", "8xf32=2", "8xf32=4", folder=several)
        assert got[-1] == "8xf32=" + ",".join([str(number)] * 8)
    patterns = [("cpu:x86-64-v3", "k1.o"), ("cpu:x86_64", "k2.o")]
    compile(product, objects_tool(several, *patterns), folder=several)
    assert call("out.alula", "8xf32=2", "8xf32=4", folder=several)[-1].startswith("8xf32=1,")
    patterns = [("cpu:x86_64,vector_bytes=32", "k1.o"), ("cpu", "k2.o")]
    compile(product, objects_tool(several, *patterns), folder=several)
    assert call("out.alula", "8xf32=2", "8xf32=4", folder=several)[-1].startswith("8xf32=1,")


def test_a_tie_is_an_error(several, product):
    tool = objects_tool(several, ("cpu:x86_64+avx2", "k1.o"), ("cpu:x86_64+fma", "k2.o"))
    said = fail(product, "obj-tie", tool, folder=several)
    assert "objects fit cpu:x86-64-v3 alike: 'cpu:x86_64+avx2' and 'cpu:x86_64+fma'" in said


@pytest.mark.parametrize(
    "pattern, text",
    [
        ("tpu", "there is cpu and cuda"),
        ("cpu:", "a name must follow the colon"),
        ("cpu:x86_64+", "a feature must follow each +"),
        ("cpu,fast=1", "after a comma there is vector_bytes=N: is 'fast=1'"),
    ],
)
def test_wrong_patterns(several, product, pattern, text):
    said = fail(product, "obj-pattern", objects_tool(several, (pattern, "k1.o")), folder=several)
    assert f"@main_0: target pattern '{pattern}': {text}" in said


def test_a_target_without_an_object_has_our_code(several, product):
    tool = objects_tool(several, ("cpu:aarch64", "k1.o"))
    compile(product, tool, folder=several)
    got = call("out.alula", "8xf32=2", "8xf32=4", folder=several)
    assert got[-1] == "8xf32=" + ",".join(["8"] * 8)
    build(several, "arm", kernel("c[i] = 0;"), machine="aarch64")
    tool = objects_tool(several, ("cpu:aarch64", "arm.o"))
    compile(product, tool, "--target=cpu:aarch64", folder=several)
    origins = [v["origins"]["main_0"][:9] for v in inspect("out.alula", folder=several)["variants"]]
    assert sorted(origins) == ["generated", "object ar"]


def test_two_objects_for_one_target(several, product):
    build(several, "part", HEADER + "float give(float v) { return v + 1; }")
    before = "float give(float);"
    build(several, "whole", kernel("c[i] = give(a[i]);", before=before))
    compile(product, attach(several, "whole.o,part.o", "cpu"), folder=several)
    got = call("out.alula", "8xf32=2", "8xf32=4", folder=several)
    assert got[-1] == "8xf32=" + ",".join(["3"] * 8)
    said = fail(product, "obj-twice", attach(several, "k1.o,k2.o", "cpu"), folder=several)
    assert "'k2.o': defines 'main_0', as another object does" in said


def test_functions_of_the_code_generator_are_there(tmp_path, product):
    before = "void *memcpy(void *, const void *, unsigned long);"
    file = build(tmp_path, "copy", kernel("memcpy(c, a, n * 4);", before=before))
    compile(product, substitute(file), folder=tmp_path)
    got = call("out.alula", "8xf32=2", "8xf32=4", folder=tmp_path)
    assert got[-1] == "8xf32=" + ",".join(["2"] * 8)
