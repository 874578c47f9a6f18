"""Stop after a stage and go on: D1 to D5, D13."""

import re

import pytest
from stage_programs import (
    CHAIN,
    MLP,
    PROGRAMS,
    STAGES,
    TARGET,
    compile_straight,
    fail,
    run,
    succeed,
    write,
)
from support.tool_runs import BIN


@pytest.fixture(scope="module", params=PROGRAMS)
def straight(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    return folder, *compile_straight(folder, request.param)


def external(folder):
    path = folder / "w.safetensors"
    return path.read_bytes() if path.exists() else None


@pytest.mark.parametrize("form", [[], ["--emit-bytecode"]], ids=["text", "bytecode"])
@pytest.mark.parametrize("stage", STAGES)
def test_d01_stop_and_go_on(straight, stage, form, tmp_path):
    folder, program, flags, artifact = straight
    dump = succeed(
        "-", *flags, f"--compile-to={stage}", *form, cwd=folder, input=program.read_bytes()
    )
    # From standard input the program has another name, and the same hash.
    succeed("-", "-o", tmp_path / "b.alula", cwd=tmp_path, input=dump)
    assert (tmp_path / "b.alula").read_bytes() == artifact
    assert external(tmp_path) == external(folder)


def test_d01_every_stop(straight, tmp_path):
    """One stage at a time, text and bytecode in turns."""
    folder, program, flags, artifact = straight
    text = succeed(program, *flags, "--compile-to=input", cwd=folder)
    for i, stage in enumerate(STAGES[1:]):
        text = succeed("-", f"--compile-to={stage}", *["--emit-bytecode"][: i % 2], input=text)
    succeed("-", "-o", tmp_path / "b.alula", input=text)
    assert (tmp_path / "b.alula").read_bytes() == artifact


def test_d01_same_stage_changes_the_form(tmp_path):
    path, flags, artifact = compile_straight(tmp_path, "mlp")
    text = succeed(path, *flags, "--compile-to=kernel")
    bytecode = succeed("-", "--compile-to=kernel", "--emit-bytecode", input=text)
    assert bytecode.startswith(b"ML\xefR") and len(bytecode) < len(text)
    assert succeed("-", "--compile-to=kernel", input=bytecode) == text
    succeed("-", "-o", tmp_path / "b.alula", input=bytecode)
    assert (tmp_path / "b.alula").read_bytes() == artifact


def test_d02_dump_all_and_go_on(straight, tmp_path):
    folder, program, flags, artifact = straight
    succeed(
        program, *flags, "-o", tmp_path / "a.alula", f"--dump-stages-to={tmp_path}/s", cwd=tmp_path
    )
    assert (tmp_path / "a.alula").read_bytes() == artifact, "dumps change nothing"
    files = sorted(file.name for file in (tmp_path / "s").iterdir())
    assert files == [f"{i + 1:02}.{stage}.mlir" for i, stage in enumerate(STAGES)] + ["09.emit.txt"]
    for file in files[:-1]:
        succeed(f"s/{file}", "-o", "b.alula", cwd=tmp_path)
        assert (tmp_path / "b.alula").read_bytes() == artifact, file
        first, second = (tmp_path / "s" / file).read_text().splitlines()[:2]
        stage = file.split(".")[1]
        assert re.fullmatch(rf"// alula \S+, after stage '{stage}' \(\d of 9\)", first)
        command = second.removeprefix("// go on: alula-compile ").split()
        succeed(*command, cwd=tmp_path / "s")
        assert (tmp_path / "s" / command[-1]).read_bytes() == artifact
        # Each is a program for the pass tool too.
        succeed(tmp_path / "s" / file, "-o", "/dev/null", program=BIN / "alula-opt")


def test_d02_bytecode(tmp_path):
    path, flags, artifact = compile_straight(tmp_path, "mlp")
    succeed(
        path,
        *flags,
        "-o",
        tmp_path / "a.alula",
        "--emit-bytecode",
        f"--dump-stages-to={tmp_path}/s",
    )
    for i, stage in enumerate(STAGES):
        succeed(tmp_path / f"s/{i + 1:02}.{stage}.mlirbc", "-o", tmp_path / "b.alula")
        assert (tmp_path / "b.alula").read_bytes() == artifact


def test_d02_what_the_artifact_says_of_its_making(tmp_path):
    """The options and the input's hash are those of the first run."""
    path, flags = write(tmp_path, "custom")
    dump = succeed(path, *flags, "--compile-to=dispatch")
    succeed("-", "-o", tmp_path / "b.alula", input=dump)
    said = succeed(tmp_path / "b.alula", program=BIN / "alula-inspect").decode()
    assert 'options = "cpu:x86-64-v3 custom-call=mine"' in said
    succeed(path, *flags, "-o", tmp_path / "a.alula")
    assert said == succeed(tmp_path / "a.alula", program=BIN / "alula-inspect").decode()


def test_d02_external_constants_lie_beside_the_artifact(tmp_path):
    path, flags = write(tmp_path, "external")
    elsewhere = tmp_path / "there"
    elsewhere.mkdir()
    dump = succeed(path, *flags, "--compile-to=kernel", cwd=tmp_path)
    succeed("-", "-o", elsewhere / "b.alula", input=dump, cwd=tmp_path)
    assert (elsewhere / "w.safetensors").exists() and not (tmp_path / "w.safetensors").exists()


def test_d02_preprocessing_is_recorded_until_it_is_done(tmp_path):
    path = tmp_path / "chain.mlir"
    path.write_text(CHAIN)
    flags = [TARGET, "--preprocess-executables-with=sed s/stablehlo.abs/stablehlo.negate/"]
    succeed(path, *flags, "-o", tmp_path / "a.alula", f"--dump-stages-to={tmp_path}/s")
    for i, stage in enumerate(STAGES):
        file = tmp_path / f"s/{i + 1:02}.{stage}.mlir"
        assert ("stablehlo.abs %" in file.read_text()) == (i < 3), stage
        succeed(file, "-o", tmp_path / "b.alula")
        assert (tmp_path / "b.alula").read_bytes() == (tmp_path / "a.alula").read_bytes()
    done = tmp_path / "s/04.dispatch.mlir"
    # The same again is no contradiction, and is not done again.
    succeed(done, *flags, "-o", tmp_path / "b.alula")
    said = fail(done, "--preprocess-executables-with=cat")
    assert (
        "[stage-conflict] --preprocess-executables-with=cat" in said
        and "been through stage 'dispatch'" in said
    )
    again = [
        "--preprocess-executables-with=sed s/stablehlo.negate/stablehlo.abs/",
        "--preprocess-again",
    ]
    succeed(done, *again, "-o", tmp_path / "b.alula")
    said = fail(tmp_path / "s/06.kernel.mlir", *again)
    assert (
        "[stage-usage] --preprocess-again: the program is past 'dispatch': it has been through 'kernel'"
        in said
    )
    succeed(path, TARGET, "-o", tmp_path / "plain.alula")
    assert (tmp_path / "b.alula").read_bytes() == (tmp_path / "plain.alula").read_bytes()


@pytest.mark.parametrize(
    "flag, was",
    [
        ("--target=cpu:x86-64-v4", "--target=cpu:x86-64-v3"),
        ("--custom-call=other", "not given"),
        ("--externalize-constants=w.safetensors", "not given"),
    ],
)
def test_d03_conflict(flag, was, tmp_path):
    path, flags, artifact = compile_straight(tmp_path, "mlp")
    dump = succeed(path, *flags, "--compile-to=dispatch")
    said = fail("-", flag, "-o", tmp_path / "b.alula", input=dump)
    assert f"[stage-conflict] {flag}: the program was compiled so far with {was}" in said
    assert not (tmp_path / "b.alula").exists()
    # The same flag once more is none.
    succeed("-", *flags, "-o", tmp_path / "b.alula", input=dump)
    assert (tmp_path / "b.alula").read_bytes() == artifact
    # The kernels of the dispatch room depend on no target.
    succeed("-", flag, "--override-recorded", "-o", tmp_path / "b.alula", input=dump, cwd=tmp_path)
    assert (tmp_path / "b.alula").read_bytes() != artifact


def test_d03_override_is_as_if_it_had_been_so(tmp_path):
    path, flags, _ = compile_straight(tmp_path, "loop")
    succeed(path, "--target=cpu:x86-64-v2", "-o", tmp_path / "v2.alula")
    dump = succeed(path, *flags, "--compile-to=kernel")
    for _ in range(2):
        dump = succeed(
            "-",
            "--target=cpu:x86-64-v2",
            "--override-recorded",
            "--compile-to=schedule",
            input=dump,
        )
    succeed("-", "-o", tmp_path / "b.alula", input=dump)
    assert (tmp_path / "b.alula").read_bytes() == (tmp_path / "v2.alula").read_bytes()


def test_d04_edit_between_stages(tmp_path):
    path = tmp_path / "p.mlir"
    path.write_text(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = stablehlo.abs %x : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"
    )
    dump = succeed(path, "--compile-to=executable-sources").decode()
    assert dump.count("stablehlo.abs") == 1
    edited = dump.replace("stablehlo.abs", "stablehlo.exponential")
    succeed("-", "-o", tmp_path / "b.alula", input=edited.encode())
    out = succeed(
        tmp_path / "b.alula", "--input=4xf32=0,1,-1,2", program=BIN / "alula-run"
    ).decode()
    numbers = [float(each) for each in re.search(r"=\[?([^\]]*)", out).group(1).split(",")]
    assert numbers == pytest.approx([1, 2.7182817, 0.36787945, 7.389056], rel=1e-6)


@pytest.mark.parametrize(
    "flags, text",
    [
        (
            ["--compile-to=garden"],
            "[stage-usage] --compile-to: there is no stage 'garden': there are input, optimize",
        ),
        (["--compile-from=Input"], "[stage-usage] --compile-from: there is no stage 'Input'"),
        (["--compile-from=emit"], "[stage-usage] --compile-from: nothing follows 'emit'"),
        (
            ["--compile-from=schedule", "--compile-to=kernel"],
            "[stage-usage] --compile-to=kernel: the program is past it",
        ),
        (
            ["--compile-to=", "--dump-stages-to="],
            "[stage-usage] --compile-to: there is no stage ''",
        ),
        (
            ["--elide-constants-larger=few"],
            "[stage-usage] --elide-constants-larger: must be a number: is 'few'",
        ),
        (
            ["--elide-constants-larger=3", "--emit-bytecode"],
            "[stage-usage] --elide-constants-larger: is for text",
        ),
    ],
)
def test_d05_usage(flags, text, tmp_path):
    path, _ = write(tmp_path, "mlp")
    assert text in fail(path, *flags, "-o", tmp_path / "b.alula")
    assert not (tmp_path / "b.alula").exists()


def test_d05_the_program_is_past_it(tmp_path):
    path, flags = write(tmp_path, "mlp")
    dump = succeed(path, *flags, "--compile-to=kernel")
    said = fail("-", "--compile-to=dispatch", input=dump)
    assert (
        "[stage-usage] --compile-to=dispatch: the program is past it: it has been through 'kernel'"
        in said
    )
    said = fail("-", "--compile-from=dispatch", input=dump)
    assert (
        "[stage-conflict] --compile-from=dispatch: the program says that it has been through 'kernel'"
        in said
    )
    succeed("-", "--compile-from=kernel", "-o", tmp_path / "b.alula", input=dump)


@pytest.mark.parametrize(
    "old, new, text",
    [
        (
            r'"alula \d+\.\d+\.\d+"',
            '"alula 0.0.1"',
            "[stage-version] written by alula 0.0.1, this is alula ",
        ),
        (
            r'alula.stage = "kernel"',
            'alula.stage = "garden"',
            "[stage-record] alula.stage must be a stage",
        ),
        (r'alula.stage = "kernel"', "alula.stage = 3", "is no string"),
        (
            r'alula.stage = "kernel"',
            'alula.stage = "emit"',
            "[stage-record] alula.stage must be a stage",
        ),
        (r"input_hash = ", "hash = ", "[stage-record] alula.record must be a dictionary"),
        (
            r"alula.record = ",
            "alula.records = ",
            "[stage-record] alula.record must be a dictionary",
        ),
        (
            r"spent = \[\]",
            "spent = 3",
            "[stage-record] alula.record: spent must be a list of strings",
        ),
        (
            r'"--target=cpu:x86-64-v3"',
            '"--nonsense=3"',
            "[stage-record] its flags are not understood",
        ),
        (r"plugins = \[\]", 'plugins = ["soft 1.0"]', "soft"),
    ],
)
def test_d05_record_that_is_not_ours(old, new, text, tmp_path):
    path, flags = write(tmp_path, "mlp")
    dump = succeed(path, *flags, "--compile-to=kernel").decode()
    edited, count = re.subn(old, new, dump)
    assert count == 1
    assert text in fail("-", "-o", tmp_path / "b.alula", input=edited.encode())
    assert not (tmp_path / "b.alula").exists()


def test_d05_truncated(tmp_path):
    path, flags = write(tmp_path, "mlp")
    for form in [[], ["--emit-bytecode"]]:
        dump = succeed(path, *flags, "--compile-to=kernel", *form)
        for size in range(0, len(dump), len(dump) // 12):
            result = run("-", "-o", tmp_path / "b.alula", input=dump[:size])
            # Nothing is a program too: without a stage, and without functions.
            assert result.returncode in (0, 1, 2)
            # What is cut off at the very end may be white space.
            if 0 < size < len(dump) - 8 and (form or b"\nmodule" in dump[:size]):
                assert result.returncode == 1 and b"error: " in result.stderr


def test_aliases(tmp_path):
    path, flags = write(tmp_path, "loop")
    for alias, stage in [("sources", "dispatch"), ("configs", "kernel"), ("targets", "target")]:
        assert succeed(path, *flags, f"--compile-to=executable-{alias}") == succeed(
            path, *flags, f"--compile-to={stage}"
        )


def test_response_file(tmp_path):
    path, flags, artifact = compile_straight(tmp_path, "custom")
    (tmp_path / "flags").write_text("\n".join(flags))
    dump = succeed(path, f"@{tmp_path}/flags", "--compile-to=dispatch")
    succeed("-", "-o", tmp_path / "b.alula", input=dump)
    assert (tmp_path / "b.alula").read_bytes() == artifact


@pytest.mark.parametrize(
    "flag", ["--elide-constants-larger=4", "--mlir-elide-elementsattrs-if-larger=4"]
)
def test_d13_elided(flag, tmp_path):
    path, flags = write(tmp_path, "mlp")
    # The linker resets MLIR's own flags: what comes after it is whole, and says so.
    for stage in STAGES if flag.startswith("--elide") else STAGES[:-1]:
        dump = succeed(path, *flags, f"--compile-to={stage}", flag)
        assert b"// constants are left out: can't be gone on with" in dump
        said = run("-", "-o", tmp_path / "b.alula", input=dump)
        assert said.returncode == 2, stage
        assert b"[stage-incomplete] constants were left out" in said.stderr
        assert not (tmp_path / "b.alula").exists()
    assert len(dump) < len(succeed(path, *flags, f"--compile-to={stage}"))


def test_constants_survive(tmp_path):
    """Bits of NaNs, hex and resources, by what the program gives."""
    path, flags, _ = compile_straight(tmp_path, "mlp")
    for form in [[], ["--emit-bytecode"]]:
        dump = succeed(path, *flags, "--compile-to=schedule", *form)
        succeed("-", "-o", tmp_path / "b.alula", input=dump)
        out = tmp_path / "out"
        inputs = ["--input=4x16xf32=1", "--input=4xf32=0"]
        outputs = [f"--output={out}{i}.bin" for i in range(4)]
        succeed(tmp_path / "b.alula", *inputs, *outputs, program=BIN / "alula-run")
        assert (tmp_path / "out2.bin").read_bytes().hex().upper() in MLP
        assert (tmp_path / "out3.bin").read_bytes() == b"".join(
            i.to_bytes(8, "little") for i in (1, 2, 3)
        )
