"""Objects in the place of our code: B1, B2, B7, B8, B9, B11, B14."""

import hashlib
import json
import re
import shutil
import sys

import numpy as np
import pytest
from object_runs import (
    BYO,
    GOOD,
    attach,
    build,
    call,
    compile,
    fail,
    inspect,
    kernel,
    run,
    substitute,
    succeed,
    write_product,
    write_two,
)
from support.tool_runs import BIN, BUILD, ROOT


def byo(folder, objects, size):
    """The worked example for the CPU with so many numbers."""
    compile(
        write_product(folder, size),
        "--target=cpu:aarch64",
        f"--object-path={objects}",
        f"--preprocess-executables-with={sys.executable} {BYO / 'cpu/byo.py'}",
        output=folder / "byo.alula",
    )
    return folder / "byo.alula"


def save_inputs(folder, size):
    generator = np.random.default_rng(size)
    values = [generator.standard_normal(size).astype(np.float32) for _ in range(2)]
    for name, value in zip("ab", values):
        np.save(folder / f"{name}.npy", value)
    return values, [f"@{folder / name}.npy" for name in "ab"]


@pytest.mark.parametrize("size", [1, 63, 64, 65, 1000])
def test_b01_an_object_gives_what_our_code_gives(tmp_path, objects, size):
    values, inputs = save_inputs(tmp_path, size)
    artifact = byo(tmp_path, objects, size)
    call(artifact, *inputs, flags=[f"--output=@{tmp_path / 'theirs.npy'}"])
    compile(tmp_path / "mul.mlir", output=tmp_path / "ours.alula")
    call(tmp_path / "ours.alula", *inputs, flags=[f"--output=@{tmp_path / 'ours.npy'}"])
    theirs, ours = (tmp_path / name for name in ("theirs.npy", "ours.npy"))
    assert theirs.read_bytes() == ours.read_bytes()
    assert np.array_equal(np.load(theirs), values[0] * values[1])
    for variant in inspect(artifact)["variants"]:
        machine = variant["target"]
        digest = hashlib.sha256((objects / f"mul_{machine}.o").read_bytes()).hexdigest()
        assert variant["origins"]["main_0"].startswith(f"object mul_{machine}.o sha256:{digest} ")
        assert "byo.py" in variant["origins"]["main_0"]
    # One workgroup for 64 numbers.
    assert f"grid({-(-size // 64)}, 1, 1)" in json.dumps(inspect(artifact))


@pytest.mark.parametrize("size", [1, 63, 64, 65, 1000])
def test_b01_the_host_computes_the_grid(tmp_path, objects, size):
    values, inputs = save_inputs(tmp_path, size)
    artifact = byo(tmp_path, objects, "?")
    lines = call(artifact, *inputs, flags=[f"--output=@{tmp_path / 'theirs.npy'}"])
    assert np.array_equal(np.load(tmp_path / "theirs.npy"), values[0] * values[1]), lines
    text = json.dumps(inspect(artifact))
    assert "ceil_div" in text


def test_b02_the_same_artifact_on_aarch64(tmp_path, objects):
    qemu = shutil.which("qemu-aarch64")
    runner = BUILD / "qemu-aarch64/bin/alula-run"
    if not qemu:
        pytest.skip("no qemu-aarch64: Debian's qemu-user has it")
    if not runner.exists():
        pytest.skip(
            "no alula-run for aarch64: runtime/conformance/test_other_machines.py builds it"
        )
    artifact = byo(tmp_path, objects, 65)
    _, inputs = save_inputs(tmp_path, 65)
    there = [qemu, "-L", "/usr/aarch64-linux-gnu", runner]
    for name, words in {"here": None, "there": there}.items():
        output = f"--output=@{tmp_path / name}.npy"
        call(artifact, *inputs, flags=[output], runner=words)
    assert (tmp_path / "here.npy").read_bytes() == (tmp_path / "there.npy").read_bytes()


def test_b07_unknown_names(tmp_path):
    two = write_two(tmp_path)
    file = build(tmp_path, "good", GOOD)
    said = fail(two, "obj-name", substitute(file, "typo"), folder=tmp_path)
    assert f"no executable 'typo' to substitute by {file}: there are first_0, second_1" in said
    said = compile(two, substitute(file, "typo"), "--substitute-missing=warn", folder=tmp_path)
    assert "warning: [obj-name] no executable 'typo'" in said
    for flags, text in {
        ("--substitute-executable=main_0",): "must be name=file: is 'main_0'",
        ("--substitute-executable=main_0=a.o,entry=",): "must be name=file",
        ("--cuda-driver=99.9",): "--cuda-driver: must be from 11.0 to 13.1: is '99.9'",
    }.items():
        result = run(BIN / "alula-compile", two, *flags, "-o", tmp_path / "o")
        assert result.returncode == 2
        assert f"[obj-usage] {text}" in result.stderr.decode() or text in result.stderr.decode()


def test_b07_a_folder_of_objects(tmp_path):
    two = write_two(tmp_path)
    folder = tmp_path / "objects"
    folder.mkdir()
    build(folder, "first_0", kernel("c[i] = a[i] + 10 * b[i];", "first_0"))
    flag = f"--substitute-executables-from={folder}"
    compile(two, flag, folder=tmp_path)
    for name, value in {"first": 42, "second": -2}.items():
        got = call("out.alula", "8xf32=2", "8xf32=4", function=name, folder=tmp_path)
        assert got[-1] == "8xf32=" + ",".join([str(value)] * 8)
    build(folder, "third_0", GOOD)
    said = fail(two, "obj-name", flag, folder=tmp_path)
    assert "no executable 'third_0' to substitute by " in said


def test_b08_what_is_dumped_goes_back_unchanged(tmp_path):
    two = write_two(tmp_path)
    file = build(tmp_path, "good", kernel("c[i] = 0;", "first_0"))
    flag = substitute(file, "first_0")
    dump = tmp_path / "dump"
    compile(two, output=tmp_path / "plain.alula")
    compile(two, f"--dump-executable-sources-to={dump}", output=tmp_path / "dumped.alula")
    compile(two, f"--substitute-executables-from={dump}", output=tmp_path / "back.alula")
    # A folder with everything, for two machines.
    many = ["--target=cpu:x86-64-v3", "--target=cpu:aarch64", "--target=cpu:x86-64-v2"]
    everything = tmp_path / "everything"
    compile(two, *many, f"--dump-executables-to={everything}", output=tmp_path / "0", target=None)
    from_there = f"--substitute-executables-from={everything}"
    compile(two, *many, from_there, output=tmp_path / "1", target=None)
    assert (tmp_path / "0").read_bytes() == (tmp_path / "1").read_bytes()
    assert len(list(everything.glob("*.o"))) == 2 * len(many)
    plain = (tmp_path / "plain.alula").read_bytes()
    assert plain == (tmp_path / "dumped.alula").read_bytes()
    assert plain == (tmp_path / "back.alula").read_bytes()
    # And one of them edited.
    [edited] = [path for path in dump.iterdir() if "second" in path.name]
    edited.write_text(edited.read_text().replace("stablehlo.subtract", "stablehlo.add"))
    compile(two, f"--substitute-executables-from={dump}", flag, output=tmp_path / "new.alula")
    got = [
        call(tmp_path / "new.alula", "8xf32=2", "8xf32=4", function=f) for f in ("first", "second")
    ]
    assert [lines[-1].split("=")[1].split(",")[0] for lines in got] == ["0", "6"]


def test_b09_helpers_of_one_name(tmp_path):
    two = write_two(tmp_path)
    for name, number in {"first_0": 3, "second_1": 5}.items():
        before = (
            f"const float table[2] = {{{number}, {number}}};\n"
            f"__attribute__((noinline)) float helper(float v) {{ return v * table[(int)v & 1]; }}"
        )
        build(tmp_path, name, kernel("c[i] = helper(a[i]);", name, before))
    flags = [substitute(tmp_path / f"{name}.o", name) for name in ("first_0", "second_1")]
    compile(two, *flags, folder=tmp_path)
    for name, number in {"first": 6, "second": 10}.items():
        got = call("out.alula", "8xf32=2", "8xf32=4", function=name, folder=tmp_path)
        assert got[-1] == "8xf32=" + ",".join([str(number)] * 8)


def test_b11_a_changed_file_counts_for_the_next_compile(tmp_path, product):
    file = build(tmp_path, "k", GOOD)
    compile(product, substitute(file), output=tmp_path / "old.alula")
    build(tmp_path, "k", kernel("c[i] = a[i] - b[i];"))
    compile(product, substitute(file), output=tmp_path / "new.alula")
    origins = [
        inspect(tmp_path / name)["variants"][0]["origins"]["main_0"]
        for name in ("old.alula", "new.alula")
    ]
    assert origins[1] != origins[0]
    assert hashlib.sha256(file.read_bytes()).hexdigest() in origins[1]
    for name, value in {"old.alula": 42, "new.alula": -2}.items():
        got = call(tmp_path / name, "8xf32=2", "8xf32=4")
        assert got[-1] == "8xf32=" + ",".join([str(value)] * 8)


IN_THE_PROGRAM = """
func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %0 = dispatch.launch @main_0::@main_0(%a, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
dispatch.executable @main_0 attributes {objects = [#dispatch.object<path = "k.o">]} {
  dispatch.entry @main_0
    bindings([#dispatch<access read>, #dispatch<access read>, #dispatch<access write>])
    workgroups [1, 1, 1] scratch 0
}
"""


@pytest.mark.parametrize(
    "way", ["substitute", "substitute-own", "folder", "tool", "cached-tool", "program"]
)
def test_b11_however_the_file_is_named(tmp_path, product, way):
    """The next compile has the new code, and the same bytes once it is back."""
    folder = tmp_path / "objects"
    flags = {
        "substitute": ["--substitute-executable=main_0=k.o"],
        "substitute-own": ["--substitute-executable-object=main_0=k.o"],
        "folder": [f"--substitute-executables-from={folder}"],
        "tool": [attach(tmp_path, "k.o", "cpu")],
        "cached-tool": [attach(tmp_path, "k.o", "cpu"), f"--preprocess-cache={tmp_path / 'cache'}"],
        "program": [],
    }[way]
    if way == "program":
        product.write_text(IN_THE_PROGRAM)
    folder.mkdir()
    artifacts = []
    for n, body in enumerate(["a[i] + 10 * b[i]", "a[i] - b[i]", "a[i] + 10 * b[i]"]):
        file = build(tmp_path, "k", kernel(f"c[i] = {body};"))
        shutil.copy(file, folder / "main_0.o")
        artifact = tmp_path / f"{n}.alula"
        compile(product, *flags, folder=tmp_path, output=artifact)
        origin = inspect(artifact)["variants"][0]["origins"]["main_0"]
        assert hashlib.sha256(file.read_bytes()).hexdigest() in origin
        artifacts.append(artifact)
    if way == "cached-tool":
        # The changed file was a miss, and that it came back a hit.
        assert len(list((tmp_path / "cache").iterdir())) == 2
    file.unlink()
    for artifact, value in zip(artifacts, [42, -2, 42]):
        got = call(artifact, "8xf32=2", "8xf32=4")
        assert got[-1] == "8xf32=" + ",".join([str(value)] * 8)
    old, new, again = (artifact.read_bytes() for artifact in artifacts)
    assert old != new and old == again


def test_b11_what_a_tool_reads_is_a_part_of_its_cached_answer(tmp_path, product):
    """A script that an interpreter runs, and a file that an option names."""
    script, table = tmp_path / "tool.py", tmp_path / "table"
    text = "import sys\ntext = sys.stdin.read()\nname = open(sys.argv[1].split('=')[1]).read()\n"
    text += "print(text.replace('stablehlo.multiply', 'stablehlo.' + name))\n"
    flags = [f"--preprocess-executables-with={sys.executable} {script} --table={table}"]
    flags.append(f"--preprocess-cache={tmp_path / 'cache'}")
    for name, change, value in [("add", "", 6), ("subtract", "", -2), ("add", "#", 6)]:
        table.write_text(name)
        script.write_text(text + change)
        compile(product, *flags, folder=tmp_path)
        got = call("out.alula", "8xf32=2", "8xf32=4", folder=tmp_path)
        assert got[-1] == "8xf32=" + ",".join([str(value)] * 8)
    assert len(list((tmp_path / "cache").iterdir())) == 3


def test_b14_dumps_need_no_files(tmp_path, objects):
    folder = tmp_path / "objects"
    shutil.copytree(objects, folder)
    program = write_product(tmp_path, 65)
    flags = [
        f"--object-path={folder}",
        f"--preprocess-executables-with={sys.executable} {BYO / 'cpu/byo.py'}",
    ]
    compile(program, *flags, output=tmp_path / "straight.alula")
    for stage in ("dispatch", "schedule"):
        dump = tmp_path / f"{stage}.mlir"
        if not folder.exists():
            shutil.copytree(objects, folder)
        compile(program, *flags, f"--compile-to={stage}", output=dump)
        shutil.rmtree(folder)
        compile(dump, output=tmp_path / "resumed.alula", target=None)
        straight, resumed = (
            (tmp_path / name).read_bytes() for name in ("straight.alula", "resumed.alula")
        )
        assert straight == resumed


def test_extraction_says_what_is_wrong(tmp_path, product):
    compile(product, folder=tmp_path)
    words = [BIN / "alula-inspect", tmp_path / "out.alula", "--extract=x86-64-v3"]
    result = run(*words, "--kernel=main_0")
    assert b"--kernel is for PTX: the kernels of 'x86-64-v3' are one image" in result.stderr
    assert succeed(*words)[:4] == b"\x7fELF"


def test_the_commands_of_the_readme(tmp_path):
    """In a folder like the repository, but empty otherwise."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    text = (BYO / "README.md").read_text()
    commands = re.findall(r"(?:^    .*\n)+", text, flags=re.MULTILINE)
    # The last one is Triton's: `./dev test triton`.
    assert len(commands) == 4 and '--preprocess-executables-with="offer:' in commands.pop()
    outputs = [
        succeed("bash", "-ec", command.replace("python3", sys.executable), folder=tmp_path).decode()
        for command in commands
    ]
    assert "@main_0: object mul_x86_64.o sha256:" in outputs[0]
    assert outputs[0].endswith("8xf32=8,8,8,8,8,8,8,8\n")
    assert (tmp_path / "mul.ptx").read_bytes() == (BYO / "cuda/kernels.ptx").read_bytes()


def test_objects_of_our_own_go_back(tmp_path):
    """With grid and scratch as they are: a transform needs both memory and the library."""
    program = tmp_path / "fft.mlir"
    program.write_text("""
func.func @main(%a: tensor<12xcomplex<f32>>) -> tensor<12xcomplex<f32>> {
  %0 = stablehlo.fft %a, type = FFT, length = [12] : (tensor<12xcomplex<f32>>) -> tensor<12xcomplex<f32>>
  return %0 : tensor<12xcomplex<f32>>
}
""")
    dump = tmp_path / "dump"
    both = ["--target=cpu:x86-64"]
    compile(program, *both, f"--dump-executable-intermediates-to={dump}", folder=tmp_path)
    expected = call("out.alula", "12xcomplex<f32>=1", folder=tmp_path)
    compile(program, *both, f"--substitute-executable-object-from={dump}", folder=tmp_path)
    assert call("out.alula", "12xcomplex<f32>=1", folder=tmp_path) == expected
    artifact = inspect("out.alula", folder=tmp_path)
    for variant in artifact["variants"]:
        assert f".{variant['name']}.o sha256:" in variant["origins"]["main_0"]
    [file] = dump.glob("*.x86-64-v3.o")
    compile(program, f"--substitute-executable-object=main_0={file}", folder=tmp_path)
    assert call("out.alula", "12xcomplex<f32>=1", folder=tmp_path) == expected
    result = run(BIN / "alula-compile", program, "--substitute-executable-object=main_0")
    assert result.returncode == 2
    assert b"--substitute-executable-object: must be name=file: is 'main_0'" in result.stderr
