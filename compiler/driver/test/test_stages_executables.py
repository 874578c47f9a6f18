"""Executables by themselves: D6 to D8, D14, and what goes wrong with them."""

import re

import pytest
from stage_programs import CHAIN, DYNAMIC, LOOP, TARGET, fail, succeed
from support.tool_runs import BIN


@pytest.fixture(scope="module")
def dumped(tmp_path_factory):
    """A program with three kernels and all that can be dumped of it."""
    folder = tmp_path_factory.mktemp("chain")
    (folder / "chain.mlir").write_text(CHAIN)
    succeed("chain.mlir", TARGET, "-o", "plain.alula", cwd=folder)
    succeed("chain.mlir", TARGET, "-o", "a.alula", "--dump-executables-to=x", cwd=folder)
    assert (folder / "a.alula").read_bytes() == (folder / "plain.alula").read_bytes(), "I2"
    return folder


def names(folder, ending):
    return sorted(
        file.name.removesuffix(ending) for file in folder.iterdir() if file.name.endswith(ending)
    )


def write_deep(path, count):
    """So many products of sizes of their own, each a kernel."""

    def array(columns):
        return f"tensor<64x{64 + columns}xf32>"

    lines = ["module @deep {", f"func.func @main(%x0: {array(0)}) -> {array(count)} {{"]
    for i in range(count):
        weights = f"tensor<{64 + i}x{64 + i + 1}xf32>"
        lines += [
            f"%w{i} = stablehlo.constant dense<{i + 1}.0> : {weights}",
            f"%x{i + 1} = stablehlo.dot %x{i}, %w{i} : ({array(i)}, {weights}) -> {array(i + 1)}",
        ]
    path.write_text("\n".join(lines) + f"\nreturn %x{count} : {array(count)}\n}}\n}}\n")


def test_d06_every_kind(dumped):
    kernels = ["chain_main_0", "chain_main_1", "chain_main_2"]
    for ending in [".source.mlir", ".config.mlir", ".alula"]:
        assert names(dumped / "x", ending) == kernels, ending
    for ending in [".ll", ".opt.ll", ".s", ".o"]:
        assert set(kernels) <= set(names(dumped / "x", f".x86-64-v3{ending}"))
    assert "define" in (dumped / "x/chain_main_0.x86-64-v3.ll").read_text()
    assert ".text" in (dumped / "x/chain_main_0.x86-64-v3.s").read_text()
    assert (dumped / "x/chain_main_0.x86-64-v3.o").read_bytes().startswith(b"\x7fELF")
    assert names(dumped / "x", ".preprocessed.mlir") == []
    for file in (dumped / "x").glob("*.mlir"):
        succeed(file, "-o", "/dev/null", program=BIN / "alula-opt")


def test_d06_rebuild_from_dumps(dumped, tmp_path):
    plain = (dumped / "plain.alula").read_bytes()
    for flag in ["--substitute-executable-source-from=x", "--substitute-executable-config-from=x"]:
        succeed("chain.mlir", TARGET, flag, "-o", tmp_path / "b.alula", cwd=dumped)
        assert (tmp_path / "b.alula").read_bytes() == plain, "I3"
    one = "--substitute-executable-source=main_1=x/chain_main_1.source.mlir"
    two = "--substitute-executable-config=main_1=x/chain_main_1.config.mlir"
    succeed("chain.mlir", TARGET, one, two, "-o", tmp_path / "b.alula", cwd=dumped)
    assert (tmp_path / "b.alula").read_bytes() == plain


def test_d06_many(tmp_path):
    write_deep(tmp_path / "deep.mlir", 100)
    flags = [TARGET, "--dump-executable-sources-to=x", "--dump-executable-configs-to=x"]
    succeed("deep.mlir", *flags, "-o", "a.alula", cwd=tmp_path)
    found = succeed("a.alula", program=BIN / "alula-inspect", cwd=tmp_path).decode()
    kernels = len(re.findall(r"^kernel \d+ @", found, re.MULTILINE))
    sources = names(tmp_path / "x", ".source.mlir")
    assert kernels == 100 and len(sources) == kernels == len(names(tmp_path / "x", ".config.mlir"))
    assert len({each.lower() for each in sources}) == kernels
    succeed(
        "deep.mlir", TARGET, "--substitute-executable-source-from=x", "-o", "b.alula", cwd=tmp_path
    )
    assert (tmp_path / "a.alula").read_bytes() == (tmp_path / "b.alula").read_bytes()


def test_d06_names(tmp_path):
    """Case alone, blanks, slashes, long ones."""
    functions = ["Same", "same", "../up", "a b%", "..", "x" * 300, "x" * 299 + "y"]
    # Of sizes of their own: they would share a kernel.
    arrays = {name: f"tensor<{size}x{size}xf32>" for size, name in enumerate(functions, 64)}
    (tmp_path / "p.mlir").write_text(
        "".join(
            f'func.func @"{name}"(%x: {array}) -> {array} {{\n'
            f"%0 = stablehlo.dot %x, %x : ({array}, {array}) -> {array}\n"
            f"return %0 : {array}\n}}\n"
            for name, array in arrays.items()
        )
    )
    succeed("p.mlir", "-o", "a.alula", "--dump-executable-sources-to=x", cwd=tmp_path)
    found = names(tmp_path / "x", ".source.mlir")
    assert len({each.lower() for each in found}) == len(functions)
    assert {
        "module_Same_0",
        "module_same_1",
        "module_..%2Fup_2",
        "module_a%20b%25_3",
        "module_.._4",
    } <= set(found)
    assert {file.name for file in tmp_path.iterdir()} == {"p.mlir", "a.alula", "x"}
    succeed("p.mlir", "-o", "b.alula", "--substitute-executable-source-from=x", cwd=tmp_path)
    assert (tmp_path / "a.alula").read_bytes() == (tmp_path / "b.alula").read_bytes()


def test_d06_edited_source(dumped, tmp_path):
    text = (dumped / "x/chain_main_0.source.mlir").read_text()
    assert text.count("stablehlo.abs") == 1
    (tmp_path / "e.mlir").write_text(text.replace("stablehlo.abs", "stablehlo.negate"))
    flag = f"--substitute-executable-source=main_0={tmp_path}/e.mlir"
    succeed("chain.mlir", TARGET, flag, "-o", tmp_path / "b.alula", cwd=dumped)
    inputs = ["--input=256x256xf32=1", "--input=256x256xf32=0.00390625"]
    for artifact, wanted in [(dumped / "plain.alula", 1), (tmp_path / "b.alula", -1)]:
        succeed(
            artifact, *inputs, f"--expected_output=256x256xf32={wanted}", program=BIN / "alula-run"
        )


@pytest.mark.parametrize(
    "flags, status, text",
    [
        (
            ["--substitute-executable-source=main_0"],
            2,
            "[stage-usage] --substitute-executable-source: must be NAME=FILE: is 'main_0'",
        ),
        (
            ["--substitute-executable-source=typo=x/chain_main_0.source.mlir"],
            1,
            "there is no executable 'typo': there are 'main_0', 'main_1', 'main_2'",
        ),
        (
            ["--substitute-executable-source=main_0=x/none.mlir"],
            1,
            "[substitute] x/none.mlir: No such file or directory",
        ),
        (["--substitute-executable-source=main_1=x/chain_main_0.source.mlir"], 1, "[pre-contract]"),
        (
            ["--substitute-executable-source=main_0=x/chain_main_0.config.mlir"],
            1,
            "must have been through stage 'dispatch': has been through 'kernel'",
        ),
        (
            ["--substitute-executable-source=main_0=plain.alula"],
            1,
            "[substitute] plain.alula: can't be read",
        ),
        (
            ["--substitute-executable-source-from=nowhere"],
            1,
            "[substitute] nowhere: holds no executable of this program: there would be chain_main_0.source.mlir",
        ),
        (
            ["--dump-executable-sources-to=-"],
            1,
            "[stage-usage] --dump-executable-sources-to=-: standard output takes one file: there are 3",
        ),
        (
            ["--dump-executables-to=-"],
            2,
            "[stage-usage] --dump-executables-to=-: standard output takes one file",
        ),
        (
            ["--executable-only"],
            1,
            "[stage-usage] --executable-only: the program must be one executable: there are 0",
        ),
    ],
)
def test_d06_wrong(flags, status, text, dumped, tmp_path):
    said = fail("chain.mlir", TARGET, *flags, "-o", tmp_path / "b.alula", cwd=dumped, status=status)
    assert text in said
    assert not (tmp_path / "b.alula").exists()


def test_one_file_on_standard_output(dumped, tmp_path):
    (tmp_path / "p.mlir").write_text(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n%0 = stablehlo.abs %x : tensor<4xf32>\nreturn %0 : tensor<4xf32>\n}\n"
    )
    source = succeed("p.mlir", "-o", "a.alula", "--dump-executable-sources-to=-", cwd=tmp_path)
    assert source.startswith(b"// alula ") and b"dispatch.executable" in source
    succeed("-", "--executable-only", "-o", tmp_path / "b.alula", input=source)


def test_d07_benchmarks(dumped, tmp_path):
    files = sorted((dumped / "x").glob("*.bench.mlir"))
    skipped = (dumped / "x/skipped.txt").read_text()
    calls = sum(
        int(re.match(r"// calls in the program: (\d+)", file.read_text()).group(1))
        for file in files
    )
    program = succeed(dumped / "chain.mlir", TARGET, "--compile-to=dispatch").decode()
    assert calls + len(skipped.splitlines()) == len(re.findall(r"= dispatch.launch ", program)) == 3
    for file in files:
        succeed(file, "-o", tmp_path / "b.alula")
        out = succeed(
            tmp_path / "b.alula", "--benchmark_min_time=0.001", program=BIN / "alula-bench"
        ).decode()
        assert "main/real_time" in out


def test_d07_calls_of_a_loop(tmp_path):
    (tmp_path / "p.mlir").write_text(LOOP)
    succeed("p.mlir", "-o", "a.alula", "--dump-executable-benchmarks-to=x", cwd=tmp_path)
    program = succeed("p.mlir", "--compile-to=dispatch", cwd=tmp_path).decode()
    files = sorted((tmp_path / "x").glob("*.bench.mlir"))
    calls = sum(int(file.read_text().split("\n")[0].split()[-1]) for file in files)
    skipped = len((tmp_path / "x/skipped.txt").read_text().splitlines())
    assert calls + skipped == program.count("dispatch.launch")


def test_d07_dynamic_sizes_are_skipped(tmp_path):
    (tmp_path / "p.mlir").write_text(DYNAMIC)
    succeed("p.mlir", "-o", "a.alula", "--dump-executable-benchmarks-to=x", cwd=tmp_path)
    skipped = (tmp_path / "x/skipped.txt").read_text()
    assert re.search(
        r"module_main_\d: @main_\d::@main_\d: a size is only known when it runs: tensor<\?x8xf32>",
        skipped,
    )
    assert list((tmp_path / "x").glob("*.bench.mlir")) == []


def test_d07_dynamic_sizes_that_are_given(tmp_path):
    text = DYNAMIC.replace(
        "%1 = stablehlo.exponential %0 : tensor<?x8xf32>",
        "%2 = stablehlo.concatenate %0, %x, dim = 0 : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>\n"
        "  %1 = stablehlo.exponential %2 : tensor<?x8xf32>",
    )
    (tmp_path / "p.mlir").write_text(text)
    flags = ["--dump-executable-benchmarks-to=x", "--bench-dim=0.0=3"]
    succeed("p.mlir", "-o", "a.alula", *flags, cwd=tmp_path)
    succeed("p.mlir", "-o", "plain.alula", cwd=tmp_path)
    assert (tmp_path / "a.alula").read_bytes() == (tmp_path / "plain.alula").read_bytes()
    assert (tmp_path / "x/skipped.txt").read_text() == ""
    signatures = []
    for file in sorted((tmp_path / "x").glob("*.bench.mlir")):
        succeed(file, "-o", tmp_path / "b.alula")
        signatures.append(
            succeed(tmp_path / "b.alula", "--list", program=BIN / "alula-run")
            .decode()
            .splitlines()[0]
        )
        succeed(tmp_path / "b.alula", "--benchmark_min_time=0.001", program=BIN / "alula-bench")
    assert "main(3x8xf32, 8x8xf32) -> (3x8xf32)" in signatures and any(
        "(6x8xf32)" in each for each in signatures
    )
    for name in ["main:0.0", "other:0.0", "1.0"]:
        succeed(
            "p.mlir",
            "-o",
            "a.alula",
            "--dump-executable-benchmarks-to=y",
            f"--bench-dim={name}=3",
            cwd=tmp_path,
        )
        assert ((tmp_path / "y/skipped.txt").read_text() == "") == (name == "main:0.0")
    said = fail("p.mlir", "-o", "a.alula", "--bench-dim=few", cwd=tmp_path)
    assert "[stage-usage] --bench-dim: must be ARGUMENT.DIMENSION=N: is 'few'" in said


@pytest.mark.parametrize("kind", ["source", "preprocessed", "config"])
@pytest.mark.parametrize("keep", [[], ["--keep-intermediates=kept"]], ids=["", "kept"])
def test_d08_executable_only(kind, keep, tmp_path):
    (tmp_path / "chain.mlir").write_text(CHAIN)
    tool = "--preprocess-executables-with=sed s/stablehlo.abs/stablehlo.negate/"
    succeed("chain.mlir", TARGET, tool, "--dump-executables-to=x", "-o", "a.alula", cwd=tmp_path)
    # Only what the tool changed is there after it.
    for name in ["chain_main_0"] if kind == "preprocessed" else ["chain_main_0", "chain_main_1"]:
        succeed("--executable-only", f"x/{name}.{kind}.mlir", *keep, "-o", "b.alula", cwd=tmp_path)
        equal = (tmp_path / "b.alula").read_bytes() == (tmp_path / f"x/{name}.alula").read_bytes()
        assert equal == (kind != "source" or name != "chain_main_0"), (
            "the source is before the tool"
        )
    if keep:
        assert {file.name.split(".", 1)[1] for file in (tmp_path / "kept").iterdir()} == {
            f"x86-64-v3.{ending}" for ending in ["ll", "opt.ll", "s", "o"]
        }


def test_d08_the_image_is_that_of_the_artifact(tmp_path):
    """With one kernel nothing else is linked to it."""
    (tmp_path / "p.mlir").write_text(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n%0 = stablehlo.exponential %x : tensor<4xf32>\nreturn %0 : tensor<4xf32>\n}\n"
    )
    succeed("p.mlir", TARGET, "-o", "a.alula", "--dump-executables-to=x", cwd=tmp_path)
    whole, blob = ((tmp_path / file).read_bytes() for file in ["a.alula", "x/module_main_0.alula"])
    start = blob.index(b"\x7fELF")
    size = int(
        re.search(
            r"ELF image of (\d+) bytes",
            succeed("x/module_main_0.alula", program=BIN / "alula-inspect", cwd=tmp_path).decode(),
        ).group(1)
    )
    assert blob[start : start + size] in whole


def test_d08_run_one(dumped):
    flags = [
        "--entry",
        "main_0",
        "--binding",
        "256x256xf32=-1",
        "--binding",
        "256x256xf32=2",
        "--binding=256x256xf32",
        "--benchmark_min_time=0.001",
        "--workgroups",
    ]
    blob = ["--executable", "x/chain_main_0.alula"]
    entry = re.search(
        r"workgroups \[(\d+), (\d+), (\d+)\]", (dumped / "x/chain_main_0.config.mlir").read_text()
    )
    out = succeed(
        *blob,
        *flags,
        ",".join(entry.groups()),
        "--output=-",
        program=BIN / "alula-bench",
        cwd=dumped,
    ).decode()
    assert set(
        re.search(r"256x256xf32=([^\n]*)", out).group(1).strip("[]").replace("],[", ",").split(",")
    ) == {"512"}
    for extra, text in [
        (["--entry=typo", *flags[2:], "1,1,1"], "has no entry 'typo'; it has 'main_0'"),
        ([*flags[:4], "--workgroups=1,1,1"], "--binding: the entry has 3: given are 1"),
        ([*flags, "1,1"], "--workgroups must be three numbers: is '1,1'"),
        ([*flags, "0,1,1"], "--workgroups must be from 1 to 4294967295: is 0"),
        ([*flags, "1,1,1", "--constants=3"], "--constants: the entry takes 0: given are '3'"),
    ]:
        assert text in fail(*blob, *extra, program=BIN / "alula-bench", cwd=dumped, status=1)
    assert "takes no other file" in fail(
        *blob, "a.alula", program=BIN / "alula-bench", cwd=dumped, status=2
    )


def test_d14_before_and_after_a_tool(tmp_path):
    (tmp_path / "chain.mlir").write_text(CHAIN)
    tool = "--preprocess-executables-with=sed s/stablehlo.abs/stablehlo.negate/"
    succeed("chain.mlir", TARGET, tool, "--dump-executables-to=x", "-o", "a.alula", cwd=tmp_path)
    assert names(tmp_path / "x", ".preprocessed.mlir") == ["chain_main_0"]

    def body(kind):
        text = (tmp_path / f"x/chain_main_0.{kind}.mlir").read_text()
        return [
            re.sub(r" ?loc\(.*?\)|-> [^ ]* \(.*", "", line)
            for line in text.splitlines()
            if "stablehlo" in line and "record" not in line
        ]

    before, after = body("source"), body("preprocessed")
    assert [line.replace("stablehlo.abs", "stablehlo.negate") for line in before] == after != before
