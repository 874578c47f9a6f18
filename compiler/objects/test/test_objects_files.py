"""What is wrong with objects: B6, each with its own sentence."""

import hashlib
import re
import sys

import numpy as np
import pytest
from object_runs import (
    CUDA,
    GOOD,
    V3,
    attach,
    build,
    compile,
    fail,
    inspect,
    kernel,
    run,
    substitute,
    write_ptx,
)
from support.tool_runs import BIN

OBJECT_ERRORS = {
    "tls": (
        kernel("c[i] = ++counter;", before="static __thread int counter;"),
        "obj-tls",
        "has thread-local storage: .tbss, counter",
    ),
    "printf": (
        kernel(
            "c[i] = printf(0) + puts(0);", before="int printf(const char *, ...), puts(char *);"
        ),
        "obj-undefined",
        "calls what is not there: printf, puts",
    ),
    "bss": (
        kernel("c[i] = ++counter;", before="static int counter;"),
        "obj-state",
        "has memory that is written: .bss",
    ),
    "common": (
        kernel("c[i] = ++counter;", before="int counter __attribute__((common));"),
        "obj-state",
        "has memory that is written: counter",
    ),
    "constructor": (
        kernel(
            "c[i] = 0;",
            before='__attribute__((constructor)) static void f(void) { __asm__ volatile(""); }',
        ),
        "obj-constructor",
        "has constructors: .init_array",
    ),
    "ifunc": (
        kernel(
            "c[i] = f();",
            before="static int one(void) { return 1; } static void *choose(void) { return one; }\n"
            'int f(void) __attribute__((ifunc("choose")));',
        ),
        "obj-ifunc",
        "has functions that are resolved at load: f",
    ),
    "addresses": (
        kernel(
            "c[i] = *names[i % 2];",
            before='__attribute__((used)) static const char *const names[] = {"a", "b"};',
        ),
        "obj-relocation",
        "must be compiled with -fPIC: its addresses are absolute in .data.rel.ro",
    ),
    "entry": (
        kernel("c[i] = 0;", name="other"),
        "obj-entry",
        "has no function 'main_0', nor one that the body calls: has other",
    ),
    "static_entry": (
        kernel("c[i] = 0;").replace(
            "int32_t main_0", "__attribute__((used)) static int32_t main_0"
        ),
        "obj-entry",
        "has no function 'main_0', nor one that the body calls: has none",
    ),
}


@pytest.mark.parametrize("case", OBJECT_ERRORS)
def test_b06_wrong_objects(tmp_path, product, case):
    code, tag, text = OBJECT_ERRORS[case]
    file = build(tmp_path, case, code)
    said = fail(product, tag, substitute(file), folder=tmp_path)
    assert f"'{case}.o': {text}" in said


def test_b06_another_machine(tmp_path, product):
    file = build(tmp_path, "arm", GOOD, machine="aarch64")
    said = fail(product, "obj-target", substitute(file), folder=tmp_path)
    assert "@main_0: no object is for cpu:x86-64-v3: 'arm.o' is for cpu:aarch64" in said
    # Somebody says that it is, and it is not.
    said = fail(product, "obj-machine", attach(tmp_path, "arm.o", "cpu:x86_64"), folder=tmp_path)
    assert "'arm.o': must be an ELF object for x86_64: is an ELF object for aarch64" in said


def test_b06_all_that_is_wrong_is_said_at_once(tmp_path, product):
    before = "int printf(const char *, ...); static __thread int t; static int s;"
    file = build(tmp_path, "bad", kernel("c[i] = printf(0) + ++t + ++s;", before=before))
    result = run(BIN / "alula-compile", product, substitute(file), V3, "-o", tmp_path / "o")
    tags = re.findall(r"error: \[([a-z-]+)\]", result.stderr.decode())
    assert tags == ["obj-tls", "obj-state", "obj-undefined"]


def test_b06_absolute_code(tmp_path, product):
    before = 'extern const char text[]; const char text[] = "abc";'
    code = kernel("c[i] = (uint32_t)(uint64_t)(text + i);", before=before)
    flags = ["-fno-pic"]
    file = build(tmp_path, "absolute", code, flags=flags)
    said = fail(product, "obj-relocation", substitute(file), folder=tmp_path)
    assert "must be compiled with -fPIC: its addresses are absolute in .text" in said


@pytest.mark.parametrize(
    "name, content, tag, text",
    [
        ("empty.o", b"", "obj-empty", "is empty"),
        (
            "text.o",
            b"hello",
            "obj-container",
            "is for no target: is neither ELF nor bitcode nor PTX",
        ),
        ("lib.o", b"!<arch>\n", "obj-container", "is for no target: is a static library: its"),
        ("spirv.o", b"\x03\x02\x23\x07" * 9, "obj-container", "is for no target: is SPIR-V"),
        ("fat.o", b"\x50\xed\x55\xba" * 9, "obj-container", "is for no target: is a fatbin"),
        ("bad.bc", b"BC\xc0\xde" + b"?" * 40, "obj-damaged", "is damaged: "),
    ],
)
def test_b06_no_objects(tmp_path, product, name, content, tag, text):
    (tmp_path / name).write_bytes(content)
    said = fail(product, tag, substitute(tmp_path / name), folder=tmp_path)
    assert f"@main_0: '{name}': {text}" in said


def test_b06_damaged_objects_are_errors(tmp_path, product):
    good = build(tmp_path, "good", GOOD).read_bytes()
    damaged = tmp_path / "damaged.o"
    for size in range(64, len(good), len(good) // 20):
        damaged.write_bytes(good[:size])
        result = run(BIN / "alula-compile", product, substitute(damaged), V3, "-o", tmp_path / "o")
        assert result.returncode == 1, size
        assert b"[obj-damaged] @main_0: 'damaged.o': is damaged: " in result.stderr


def test_b06_files_that_are_not_there(tmp_path, product):
    flags = [substitute("no.o"), "--object-path=elsewhere"]
    said = fail(product, "obj-missing", *flags, folder=tmp_path)
    assert "@main_0: can't read no.o, nor elsewhere/no.o: No such file" in said
    said = fail(product, "obj-container", substitute("mul.exe"), folder=tmp_path)
    assert "@main_0: what substitutes it must end in .o, .bc, .ptx or .mlir: mul.exe" in said
    said = fail(product, "obj-missing", "--substitute-executables-from=no", folder=tmp_path)
    assert "[obj-missing] can't read the folder no: No such file" in said


def test_inline_content_and_its_hash(tmp_path, product):
    file = build(tmp_path, "k", GOOD)
    compile(product, substitute(file), "--compile-to=dispatch", output=tmp_path / "d.mlir")
    text = (tmp_path / "d.mlir").read_text()
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert f'sha256 = "{digest}"' in text
    (tmp_path / "e.mlir").write_text(text.replace(digest, "0" * 64))
    said = fail(tmp_path / "e.mlir", "obj-hash", folder=tmp_path, target=None)
    assert f"'k.o': its content has changed: sha256 is {digest}, was {'0' * 64}" in said
    # Without path and hash it is inline.
    inline = re.sub(r'sha256 = "[0-9a-f]*", |path = "[^"]*", ', "", text)
    inline = re.sub(r', sha256 = "[0-9a-f]*"|, path = "[^"]*"', "", inline)
    (tmp_path / "i.mlir").write_text(inline)
    compile(tmp_path / "i.mlir", output=tmp_path / "i.alula", target=None)
    [variant] = inspect(tmp_path / "i.alula")["variants"]
    assert variant["origins"]["main_0"] == f"object inline sha256:{digest}"


def test_an_object_must_be_something(tmp_path, product):
    tool = tmp_path / "nothing.py"
    tool.write_text("""
import sys
print(sys.stdin.read().replace("@main_0 {", '@main_0 attributes {objects = [#dispatch.object<target = "cpu">]} {', 1))
""")
    flag = f"--preprocess-executables-with={sys.executable} {tool}"
    said = fail(product, "obj-missing", flag, folder=tmp_path)
    assert "[obj-missing] @main_0: an object must have a path or data" in said


def test_damage_is_never_a_crash(tmp_path, product):
    """Random changes of objects: an error or an artifact, whatever they hit."""
    generator = np.random.default_rng(7)
    code = kernel("c[i] = helper(a[i]);", before="float helper(float v) { return v + 1; }")
    files = [build(tmp_path, "good", code), write_ptx(tmp_path)]
    for file, target in zip(files, (V3, CUDA)):
        good = np.frombuffer(file.read_bytes(), np.uint8)
        damaged = tmp_path / f"damaged{file.suffix}"
        for _ in range(25):
            bad = good.copy()
            places = generator.integers(0, len(bad), 4)
            bad[places] = generator.integers(0, 256, 4)
            damaged.write_bytes(bad.tobytes())
            flag = substitute(f"{damaged},entry=simple_mul" if target == CUDA else damaged)
            result = run(BIN / "alula-compile", product, flag, target, "-o", "o", folder=tmp_path)
            assert result.returncode in (0, 1), result.stderr.decode(errors="replace")
