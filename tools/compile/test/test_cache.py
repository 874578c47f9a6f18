"""--cache: what was made before is taken, and nothing else."""

import concurrent.futures
import os
import pathlib

import pytest
from support.tool_runs import BIN, check_success, get_said, run_tool

PROGRAM = """
func.func @main(%x: tensor<4x300xf32>) -> tensor<4x300xf32> {{
  %w = stablehlo.constant dense<{number}> : tensor<4x300xf32>
  %0 = stablehlo.add %x, %w : tensor<4x300xf32>
  return %0 : tensor<4x300xf32>
}}
"""
COMPILE = BIN / "alula-compile"


class Cache:
    def __init__(self, folder: pathlib.Path):
        self.folder, self.path = folder, folder / "cache"

    def entries(self):
        return sorted(self.path.glob("llvmcache-*"))

    def run(self, *flags, number="1.5", output="a.alula"):
        program = self.folder / f"{number}.mlir"
        program.write_text(PROGRAM.format(number=number))
        flags = [f"--cache={self.path}", "--print-stage-log", *flags]
        return run_tool(COMPILE, program, "-o", self.folder / output, *flags)

    def is_known(self, *flags, number="1.5", output="a.alula"):
        """Whether nothing was compiled."""
        result = self.run(*flags, number=number, output=output)
        check_success(result)
        said = get_said(result)
        assert ("cache: " in said) != ("stage emit" in said)
        return "cache: " in said

    def read(self, output="a.alula"):
        return (self.folder / output).read_bytes()


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path)


def test_the_second_time_nothing_is_compiled(cache):
    assert not cache.is_known()
    assert cache.is_known(output="b.alula")
    assert cache.read("a.alula") == cache.read("b.alula")
    assert len(cache.entries()) == 1


OTHERS = [
    ["--target=cpu:x86-64-v3"],
    ["--target=cpu:host"],
    ["--target=cpu:x86-64-v3", "--target=cpu:x86-64-v2"],
    ["--target=cpu:x86-64-v3:cores=2"],
    ["--accuracy=bf16-products"],
    ["--custom-call=f"],
    ["--debug=1"],
    ["--physical-layouts"],
]


def test_what_differs_is_compiled(cache):
    assert not cache.is_known()
    assert not cache.is_known(number="2.5")
    for flags in OTHERS:
        assert not cache.is_known(*flags), flags
    for flags in OTHERS:
        assert cache.is_known(*flags), flags
    assert cache.is_known() and cache.is_known(number="2.5")


def test_constants_outside_come_too(cache):
    outside = cache.folder / "w.safetensors"
    row = "[" + ", ".join(["1.5"] * 299 + ["2.5"]) + "]"
    program = cache.folder / "large.mlir"
    program.write_text(PROGRAM.format(number=f"[{', '.join([row] * 4)}]"))
    command = [COMPILE, program, "-o", cache.folder / "a.alula", f"--cache={cache.path}"]
    command += [f"--externalize-constants={outside}", "--externalize-min-bytes=16"]
    check_success(run_tool(*command))
    artifact, constants = cache.read(), outside.read_bytes()
    outside.unlink()
    result = run_tool(*command, "--print-stage-log")
    check_success(result)
    assert "cache: " in get_said(result)
    assert outside.read_bytes() == constants and cache.read() == artifact


@pytest.mark.parametrize("damage", ["byte", "short", "empty"])
def test_damaged_entries_are_none(cache, damage):
    assert not cache.is_known()
    (entry,) = cache.entries()
    whole = entry.read_bytes()
    if damage == "byte":
        middle = len(whole) // 2
        entry.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
    else:
        entry.write_bytes(whole[: len(whole) // 2 if damage == "short" else 0])
    good = cache.read()
    assert not cache.is_known()
    assert cache.read() == good and entry.read_bytes() == whole
    assert cache.is_known()


def test_what_can_not_be_kept_is_said(cache, tmp_path):
    for flags, why in [
        (["--target=cpu:x86-64-v3", "--emit=static"], "only artifacts are"),
        (["--compile-to=dispatch"], "only artifacts are"),
        ([f"--dump-stages-to={tmp_path / 'dumps'}"], "stages are written on the way"),
        (["--preprocess-executables-with=cat"], "files or tools of others take part"),
    ]:
        result = cache.run(*flags)
        check_success(result)
        said = get_said(result)
        assert f"warning: [cache] '{cache.path}': not used: {why}" in said
    assert not cache.entries()


def test_a_folder_that_can_not_be_written(tmp_path):
    (tmp_path / "cache").write_text("a file")
    cache = Cache(tmp_path)
    result = cache.run()
    check_success(result)
    assert "[cache]" in get_said(result) and "is not kept" in get_said(result)
    assert cache.read()


def test_wrong_programs_are_wrong_again(cache):
    for _ in range(2):
        result = cache.run(number='"text"')
        assert result.returncode == 1 and "error:" in get_said(result)
    assert not cache.entries()


def test_many_at_once(cache):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        names = [f"{i}.alula" for i in range(12)]
        results = list(
            pool.map(lambda i: cache.run(number=f"{i % 3}.5", output=names[i]), range(12))
        )
    for result in results:
        check_success(result)
    assert len(cache.entries()) == 3
    assert len({cache.read(name) for name in names}) == 3


def test_who_is_used_is_younger(cache):
    assert not cache.is_known()
    (entry,) = cache.entries()
    os.utime(entry, (1, 1))
    assert cache.is_known()
    assert entry.stat().st_mtime > 1
