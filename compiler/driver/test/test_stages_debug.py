"""--debug: what code says of where it comes from."""

import json
import re
import shutil
import struct

import pytest
from stage_programs import CHAIN, PROGRAMS, STAGES, TARGET, fail, run, succeed, write
from support.tool_runs import BIN

DWARFDUMP = shutil.which("llvm-dwarfdump-19") or shutil.which("llvm-dwarfdump")
LEVEL = "--debug=3"
INSPECT, RUN, OPT = BIN / "alula-inspect", BIN / "alula-run", BIN / "alula-opt"


def inspect(artifact):
    return json.loads(succeed(artifact, "--json", program=INSPECT))


def read_texts(artifact):
    facts = inspect(artifact)["facts"]
    return {key[6:]: value for key, value in facts if key.startswith("debug.")}


def read_sections(artifact):
    """The bytes of each section of the first variant's image."""
    name = inspect(artifact)["variants"][0]["name"]
    image = succeed(artifact, f"--extract={name}", program=INSPECT)
    (start,) = struct.unpack_from("<Q", image, 0x28)
    size, count, names = struct.unpack_from("<HHH", image, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", image, start + i * size) for i in range(count)]
    strings = headers[names][4]

    def get_name(at):
        return image[strings + at : image.index(b"\0", strings + at)].decode()

    return {get_name(h[0]): image[h[4] : h[4] + h[5]] for h in headers if h[1] not in (0, 8)}


def read_lines(artifact, folder):
    """(file, line, column) of all instructions that have a line."""
    name = inspect(artifact)["variants"][0]["name"]
    image = folder / "image.elf"
    image.write_bytes(succeed(artifact, f"--extract={name}", program=INSPECT))
    text = succeed("--debug-line", image, program=DWARFDUMP).decode()
    lines = set()
    for table in text.split("Line table prologue")[1:]:
        files = re.findall(r'file_names\[ *(\d+)\]:\n *name: "(.*)"', table)
        names = {int(number): name for number, name in files}
        rows = re.findall(r"^0x[0-9a-f]+ +(\d+) +(\d+) +(\d+) ", table, re.M)
        lines |= {(names[int(f)], int(line), int(column)) for line, column, f in rows}
    return {each for each in lines if each[1]}


@pytest.mark.parametrize("name", PROGRAMS)
def test_levels_change_no_code(name, tmp_path):
    path, flags = write(tmp_path, name)
    sections = []
    for level in range(4):
        succeed(path, *flags, f"--debug={level}", "-o", "a.alula", cwd=tmp_path)
        sections.append(read_sections(tmp_path / "a.alula"))
        assert (".symtab" in sections[-1]) == (level >= 1)
        assert (".debug_line" in sections[-1]) == (level >= 2)
        assert bool(read_texts(tmp_path / "a.alula")) == (level == 3)
    code = {each.get(".text") for each in sections}
    assert len(code) == 1 and code != {None}
    # Nothing is the same as not given.
    succeed(path, *flags, "-o", "b.alula", cwd=tmp_path)
    succeed(path, *flags, "--debug=0", "-o", "c.alula", cwd=tmp_path)
    assert (tmp_path / "b.alula").read_bytes() == (tmp_path / "c.alula").read_bytes()


def read_kernels(path):
    facts = inspect(path)["facts"]
    return {k[7:]: dict(line.split(" ", 1) for line in v.splitlines())
            for k, v in facts if k.startswith("kernel.")}  # fmt: skip


def test_what_kernels_are(tmp_path):
    (tmp_path / "a.mlir").write_text("""
func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>) -> tensor<64x16xf32> {
  %d = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  %t = stablehlo.tanh %d : tensor<64x16xf32> loc("jit(f)/ta\\0A\\1Bnh"("model.py":7:1))
  return %t : tensor<64x16xf32>
}
""")
    for level in range(2):
        succeed("a.mlir", "--target=cpu:x86-64-v3", f"--debug={level}", "-o", "a.alula",
                cwd=tmp_path)  # fmt: skip
        expected = {
            "flops": str(2 * 64 * 32 * 16),
            "transcendentals": str(64 * 16),
            # The product stays inside.
            "bytes": str(4 * (64 * 32 + 32 * 16 + 64 * 16)),
            "operations": "dot_general tanh",
            "typed": "dot_general:f32 tanh:f32",
            "name": "jit(f)/ta??nh",
            "source": "model.py:7",
        }
        assert read_kernels(tmp_path / "a.alula") == ({"main_0": expected} if level else {})


@pytest.mark.parametrize("name", PROGRAMS)
def test_texts_of_each_kernel(name, tmp_path):
    path, flags = write(tmp_path, name)
    succeed(path, *flags, LEVEL, "-o", "a.alula", cwd=tmp_path)
    artifact = inspect(tmp_path / "a.alula")
    kernels = {kernel["name"] for kernel in artifact["kernels"]}
    machines = [variant["name"] for variant in artifact["variants"]]
    texts = read_texts(tmp_path / "a.alula")
    found = re.search(r"^module @(\w+)", path.read_text(), re.M)
    home = found[1] if found else "module"
    endings = [".source.mlir", ".config.mlir", *[f".{machine}.ll" for machine in machines]]
    assert set(texts) == {f"{home}_{kernel}{ending}" for kernel in kernels for ending in endings}
    for kernel in kernels:
        source = texts[f"{home}_{kernel}.source.mlir"]
        config = texts[f"{home}_{kernel}.config.mlir"]
        assert "stablehlo." in source and f'"{path}":' in source
        # Each text is at lines of the one before it.
        assert "stablehlo." not in config and f'loc("{home}_{kernel}.source.mlir":' in config
        for text in (source, config):
            assert f"@{kernel}" in text
            file = tmp_path / "text.mlir"
            file.write_text(text)
            succeed(file, "-o", "/dev/null", program=OPT)
        for machine in machines:
            code = texts[f"{home}_{kernel}.{machine}.ll"]
            assert f'filename: "{home}_{kernel}.config.mlir"' in code


@pytest.mark.skipif(not DWARFDUMP, reason="no llvm-dwarfdump")
def test_lines_of_code_are_lines_of_the_texts(tmp_path):
    (tmp_path / "p.mlir").write_text(CHAIN)
    flags = ["p.mlir", TARGET, "-o", "a.alula"]
    succeed(*flags, "--debug=2", cwd=tmp_path)
    lines = read_lines(tmp_path / "a.alula", tmp_path)
    assert {file for file, *_ in lines} == {"p.mlir"}
    # The ops of the program: products and abs.
    places = {(n + 1, each.index("stablehlo.dot")) for n, each in enumerate(CHAIN.splitlines())
              if "stablehlo.dot" in each}  # fmt: skip
    assert {line for line, _ in places} <= {line for _, line, _ in lines}
    succeed(*flags, LEVEL, cwd=tmp_path)
    texts = read_texts(tmp_path / "a.alula")
    lines = read_lines(tmp_path / "a.alula", tmp_path)
    configs = {name for name in texts if name.endswith(".config.mlir")}
    assert {file for file, *_ in lines} == configs and len(configs) == 3
    for file, line, column in lines:
        text = texts[file].splitlines()[line - 1]
        assert re.match(r" *(%[\w:#, ]+ = )?[\w\".]+", text), (file, line, text)
        assert column == 0 or text[column - 1] != " ", (file, line, column)
    # More than the beginnings of functions.
    assert len({line for _, line, _ in lines}) > 5


@pytest.mark.parametrize("form", [[], ["--emit-bytecode"]], ids=["text", "bytecode"])
@pytest.mark.parametrize("name", ["mlp", "loop", "dynamic"])
def test_every_way_gives_the_same(name, form, tmp_path):
    path, flags = write(tmp_path, name)
    dump = f"--dump-stages-to={tmp_path / 's'}"
    succeed(path, *flags, LEVEL, *form, dump, "-o", "a.alula", cwd=tmp_path)
    artifact = (tmp_path / "a.alula").read_bytes()
    for file in sorted((tmp_path / "s").iterdir())[:-1]:
        succeed(file, "-o", "b.alula", cwd=tmp_path)
        assert (tmp_path / "b.alula").read_bytes() == artifact, file
    text = succeed(path, *flags, LEVEL, "--compile-to=input", cwd=tmp_path)
    for stage in STAGES[1:]:
        text = succeed("-", f"--compile-to={stage}", *form, input=text)
    succeed("-", "-o", tmp_path / "b.alula", input=text)
    assert (tmp_path / "b.alula").read_bytes() == artifact
    said = fail("-", "--debug=2", "-o", "/dev/null", input=text)
    assert "[stage-conflict]" in said and "--debug" in said


def test_kernels_by_themselves(tmp_path):
    """They are the same, whichever file they are made of."""
    (tmp_path / "p.mlir").write_text(CHAIN)
    flags = ["p.mlir", TARGET, LEVEL, "-o", "a.alula", "--dump-executables-to=x"]
    succeed(*flags, cwd=tmp_path)
    plain = [word for word in flags if not word.startswith("--dump")]
    succeed(*plain[:-1], "b.alula", cwd=tmp_path)
    assert (tmp_path / "a.alula").read_bytes() == (tmp_path / "b.alula").read_bytes()
    texts = read_texts(tmp_path / "a.alula")
    blobs = sorted((tmp_path / "x").glob("*.alula"))
    assert len(blobs) == 3
    for blob in blobs:
        own = read_texts(blob)
        assert own.items() <= texts.items() and len(own) == 3
        for kind in ("source", "config"):
            file = blob.with_suffix(f".{kind}.mlir")
            succeed("--executable-only", file, "-o", "c.alula", cwd=tmp_path)
            assert (tmp_path / "c.alula").read_bytes() == blob.read_bytes(), file


def test_the_source_is_what_tools_have_left(tmp_path):
    (tmp_path / "p.mlir").write_text(CHAIN)
    step = "--preprocess-executables-with=sed s/stablehlo.abs/stablehlo.negate/"
    succeed("p.mlir", TARGET, LEVEL, step, "-o", "a.alula", cwd=tmp_path)
    texts = read_texts(tmp_path / "a.alula")
    sources = "".join(text for name, text in texts.items() if name.endswith(".source.mlir"))
    assert "stablehlo.negate" in sources and "stablehlo.abs" not in sources


def test_errors_are_at_lines_of_the_texts(tmp_path):
    """What is said after a text has been kept is said of it."""
    (tmp_path / "p.mlir").write_text(CHAIN)
    dump = succeed("p.mlir", TARGET, LEVEL, "--compile-to=schedule", cwd=tmp_path).decode()
    assert re.search(r'loc\("chain_main_0\.config\.mlir":\d+:\d+\)', dump)


def test_texts_as_files(tmp_path):
    (tmp_path / "p.mlir").write_text(CHAIN)
    succeed("p.mlir", TARGET, LEVEL, "-o", "a.alula", cwd=tmp_path)
    folder = tmp_path / "texts"
    result = run("a.alula", f"--debug-texts={folder}", cwd=tmp_path, program=INSPECT)
    assert result.returncode == 3 and b"No such file or directory" in result.stderr
    folder.mkdir()
    assert succeed("a.alula", f"--debug-texts={folder}", cwd=tmp_path, program=INSPECT) == b""
    written = {file.name: file.read_text() for file in folder.iterdir()}
    assert written == read_texts(tmp_path / "a.alula") and len(written) == 9
    printed = succeed("a.alula", cwd=tmp_path, program=INSPECT).decode()
    size = len(written["chain_main_0.config.mlir"])
    assert f"debug.chain_main_0.config.mlir: {size} bytes\n" in printed
    succeed("p.mlir", TARGET, "-o", "b.alula", cwd=tmp_path)
    result = run("b.alula", f"--debug-texts={folder}", cwd=tmp_path, program=INSPECT)
    assert result.returncode == 1 and b"it holds no texts" in result.stderr
    # A name leads nowhere else.
    artifact = (tmp_path / "a.alula").read_bytes()
    assert b"debug.chain_main_0.source.mlir" in artifact


def test_wrong_levels(tmp_path):
    (tmp_path / "p.mlir").write_text(CHAIN)
    for level in ("4", "-1", "x", ""):
        said = fail("p.mlir", f"--debug={level}", cwd=tmp_path)
        assert f"[stage-usage] --debug: must be from 0 to 3: is '{level}'" in said


def test_it_runs(tmp_path):
    path, flags = write(tmp_path, "rows")
    words = ["a.alula", "--input=128x512xf32=1"]
    results = []
    for level in range(4):
        succeed(path, *flags, f"--debug={level}", "-o", "a.alula", cwd=tmp_path)
        results.append(succeed(*words, program=RUN, cwd=tmp_path))
    assert len(set(results)) == 1 and b"0.00195" in results[0]
