"""The samples of examples/plugins, built from the installed package alone, and
plugins of the runtime: G1, G2, G9, G13 to G15."""

import json
import math
import re
import shutil
import subprocess

import numpy as np
import pytest
from plugin_runs import (
    PROGRAM,
    SAMPLES,
    SUM,
    SWAPPED,
    build,
    compute,
    fail,
    run,
    succeed,
)
from support.tool_runs import BIN, ROOT


def write_values(dims):
    """Small whole numbers: sums of products are exact in any order."""
    count = math.prod(dims)
    values = np.array([(7 * i) % 11 - 5 for i in range(count)], dtype=np.float32)
    return values.reshape(dims)


SHAPES = [(4, 8), (8, 16), (16,), (16, 3), (3,)]
VALUES = [write_values(shape) for shape in SHAPES]
MLP = SAMPLES / "target/mlp.mlir"


def test_g01_samples_load_by_flag_environment_and_folder(swap, package, here):
    ways = {
        "flag": ([f"--load-plugin={swap}"], {}),
        "environment": (["--plugin=swap"], {"ALULA_PLUGIN_PATH": str(swap)}),
        "folder": (["--plugin=swap", f"--plugin-dir={swap.parent}"], {}),
    }
    for found, (flags, environment) in ways.items():
        assert compute(*flags, "--swap-mul-add", folder=here, environment=environment) == SWAPPED
        listed = json.loads(succeed(*flags, "--list-plugins=json", environment=environment))
        (plugin,) = listed["plugins"]
        assert (plugin["id"], plugin["version"], plugin["tier"]) == ("swap", "1.0", "M")
        assert plugin["path"] == str(swap) and plugin["found"] == found and plugin["active"]
    # A folder in the environment, and the folder of the installation.
    environment = {"ALULA_PLUGIN_PATH": str(swap.parent)}
    assert compute("--plugin=swap", folder=here, environment=environment) == SUM
    installed = package / "lib/alula/plugins"
    installed.mkdir(parents=True)
    shutil.copy(swap, installed)
    tool = str(package / "bin/alula-compile")
    text = succeed("--list-plugins", tool=tool)
    assert "swap 1.0, tier M, not active" in text and f"folder {installed}" in text
    assert succeed("--list-plugins", "--no-default-plugins", tool=tool) == ""
    shutil.rmtree(package / "lib/alula")


def test_g01_each_sample_works_however_it_is_found(toy, kernels, here):
    """The target and the kernels as well: numbers, and what is listed."""
    runtime = f"--executable-plugin={toy}/toy_runtime.so"
    imports = f"--executable-plugin={kernels}/matmul_import.so"
    for id, folder, flags, run_flags in (
        ("toy", toy, ["--target=toy"], [runtime]),
        ("kernels", kernels, ["--kernels-as=import"], [imports]),
    ):
        library = folder / f"alula-plugin-{id}.so"
        for found, words, path in (
            ("flag", [f"--load-plugin={library}"], ""),
            ("environment", [f"--plugin={id}"], str(library)),
            ("environment", [f"--plugin={id}"], str(folder)),
            ("folder", [f"--plugin={id}", f"--plugin-dir={folder}"], ""),
        ):
            environment = {"ALULA_PLUGIN_PATH": path}
            succeed(MLP, *words, *flags, "-o", here / "mlp", environment=environment)
            expect_mlp(here / "mlp", here, *run_flags)
            listed = json.loads(succeed(*words, "--list-plugins=json", environment=environment))
            (plugin,) = listed["plugins"]
            assert (plugin["id"], plugin["version"], plugin["tier"]) == (id, "1.0", "M")
            assert (plugin["path"], plugin["found"]) == (str(library), found)
            assert plugin["active"]


def test_g02_linked_plugins_give_the_same_artifact(swap, toy, kernels, here):
    """All three samples: loaded, and inside the tool."""
    linked = BIN / "alula-compile-linked"
    if not linked.exists():
        pytest.skip("alula-compile-linked is not built")
    libraries = {
        "swap": swap,
        "toy": toy / "alula-plugin-toy.so",
        "kernels": kernels / "alula-plugin-kernels.so",
    }
    ways = [("swap", PROGRAM, f"--swap-mul-add={value}") for value in ("false", "true")]
    ways += [("toy", MLP, f"--target={device}") for device in ("toy", "toy:large")]
    ways += [("toy", MLP, "--target=toy", "--target=cpu")]
    ways += [("kernels", MLP, "--kernels-as=import")]
    for kind, file in {"bitcode": "matmul.bc", "object": "matmul.o"}.items():
        ways.append(("kernels", MLP, f"--kernels-as={kind}", f"--kernels-file={kernels / file}"))
    artifacts = set()
    for id, program, *flags in ways:
        shared, inside = [f"--load-plugin={libraries[id]}"], [f"--plugin={id}"]
        succeed(program, "-o", here / "shared", *shared, *flags)
        succeed(program, "-o", here / "linked", *inside, *flags, tool=str(linked))
        artifacts.add((here / "shared").read_bytes())
        assert (here / "shared").read_bytes() == (here / "linked").read_bytes(), (id, flags)
        # The plugin has had its say.
        succeed(program, "-o", here / "plain")
        assert (here / "plain").read_bytes() not in artifacts, (id, flags)
    assert len(artifacts) == len(ways)
    # All at once, with their hooks at different stages.
    flags = ["--swap-mul-add", "--kernels-as=import", "--target=cpu", "--target=toy"]
    for name, tool, words in (
        ("shared", BIN / "alula-compile", [f"--load-plugin={file}" for file in libraries.values()]),
        ("linked", linked, [f"--plugin={id}" for id in libraries]),
    ):
        succeed(PROGRAM, "-o", here / name, *words, *flags, tool=str(tool))
    assert (here / "shared").read_bytes() == (here / "linked").read_bytes()
    listed = json.loads(succeed("--list-plugins=json", tool=str(linked)))["plugins"]
    assert {each["id"] for each in listed} == set(libraries)
    for plugin in listed:
        assert plugin["found"] == "static" and plugin["path"] == ""
        assert plugin["active"] == (plugin["id"] == "toy")
    text = fail("plug-duplicate", PROGRAM, f"--load-plugin={swap}", tool=str(linked))
    assert f"plugin 'swap' is a part of this tool, --plugin=swap, and is brought by {swap}" in text


def mlp(artifact, folder, *flags):
    words = []
    for i, value in enumerate(VALUES):
        np.save(folder / f"{i}.npy", value)
        words.append(f"--input=@{folder}/{i}.npy")
    succeed(artifact, *flags, *words, f"--output={folder}/r.npy", tool="alula-run")
    return np.load(folder / "r.npy")


def expect_mlp(artifact, folder, *flags):
    x, w1, b1, w2, b2 = VALUES
    expected = np.maximum(x @ w1 + b1, 0) @ w2 + b2
    np.testing.assert_array_equal(mlp(artifact, folder, *flags), expected)


def test_g09_a_target_from_elsewhere(toy, here):
    load = f"--load-plugin={toy}/alula-plugin-toy.so"
    runtime = f"--executable-plugin={toy}/toy_runtime.so"
    succeed(MLP, load, "--target=toy", "-o", here / "toy.alula")
    expect_mlp(here / "toy.alula", here, runtime)
    # The image is the text that the plugin gave.
    assert b"\ndot " in (here / "toy.alula").read_bytes()
    result = run(here / "toy.alula", tool="alula-run")
    assert result.returncode == 1 and "no variant fits this machine" in result.stderr
    text = run(MLP, load, "--target=toy", "--plugin=-toy").stderr
    assert "unknown target toy, available: cpu" in text and "toy," not in text.split(":")[-1]
    text = run(MLP, load, "--target=toy:huge").stderr
    assert "target 'toy' has no device 'huge': there is small, large" in text
    text = run(MLP, load, "--target=moon").stderr
    assert "unknown target moon, available: cpu, cuda, toy" in text


def test_g09_beside_our_own_target(toy, here):
    load = f"--load-plugin={toy}/alula-plugin-toy.so"
    runtime = f"--executable-plugin={toy}/toy_runtime.so"
    for targets, first in ((("toy", "cpu"), "toy"), (("cpu", "toy:large"), "cpu")):
        flags = [f"--target={target}" for target in targets]
        succeed(MLP, load, *flags, "-o", here / "both.alula")
        expect_mlp(here / "both.alula", here)
        expect_mlp(here / "both.alula", here, runtime)
    expect_mlp(here / "both.alula", here, runtime, "--variant=toy:large")


def test_g10_a_default_target_changes_nothing(toy, here):
    succeed(MLP, "-o", here / "without")
    environment = {"ALULA_PLUGIN_PATH": f"{toy}/alula-plugin-toy.so"}
    succeed(MLP, "-o", here / "with", environment=environment)
    assert (here / "without").read_bytes() == (here / "with").read_bytes()
    listed = succeed("--list-plugins", environment=environment)
    assert "toy 1.0, tier M, active" in listed


def test_g09_what_the_target_cannot_run(toy, here):
    (here / "p.mlir").write_text(
        "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = stablehlo.cosine %a : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"
    )
    load = f"--load-plugin={toy}/alula-plugin-toy.so"
    text = fail("plug-stage", here / "p.mlir", load, "--target=toy", status=1)
    assert "plugin 'toy', stage target.translate, executable @main_0" in text
    assert "toy: can't run it" in text


def test_g13_a_kernel_as_bitcode_object_and_import(kernels, here):
    load = f"--load-plugin={kernels}/alula-plugin-kernels.so"
    succeed(MLP, "-o", here / "own.alula")
    expect_mlp(here / "own.alula", here)
    for kind, file in {"bitcode": "matmul.bc", "object": "matmul.o"}.items():
        flags = [f"--kernels-as={kind}", f"--kernels-file={kernels / file}", "--target=cpu:host"]
        dump = f"--dump-executable-intermediates-to={here / kind}"
        succeed(MLP, load, *flags, dump, "-o", here / f"{kind}.alula")
        expect_mlp(here / f"{kind}.alula", here)
        assert succeed(here / f"{kind}.alula", "--list-imports", tool="alula-run") == ""
        assert (here / "own.alula").read_bytes() != (here / f"{kind}.alula").read_bytes()
        (optimized,) = (here / kind).glob("*.opt.ll")
        calls = re.findall(r"call .*@kernels_matmul", optimized.read_text())
        assert bool(calls) == (kind == "object"), calls
    succeed(MLP, load, "--kernels-as=import", "-o", here / "import.alula")
    names = succeed(here / "import.alula", "--list-imports", tool="alula-run")
    assert names == "kernels_matmul optional, missing\n"
    expect_mlp(here / "import.alula", here)
    plugin = f"--executable-plugin={kernels}/matmul_import.so"
    names = succeed(here / "import.alula", plugin, "--list-imports", tool="alula-run")
    assert names == "kernels_matmul optional, found\n"
    expect_mlp(here / "import.alula", here, plugin)


def provider(folder, name, functions, extra="", *flags):
    """A plugin of the runtime: functions that add a number to a tensor."""
    bodies = "".join(
        f"static int32_t {f}(void *p, void *context, void *r) {{ struct p *q = p;\n"
        f"  for (int i = 0; i < 4; ++i) q->r[i] = q->a[i] + {n};\n  return 0; }}\n"
        for f, n in functions.items()
    )
    cases = "".join(
        f'    if (!functions[i] && !strcmp(names[i], "{f}")) functions[i] = {f};\n'
        for f in functions
    )
    (folder / f"{name}.c").write_text(
        '#include "alula/import.h"\n#include <stdlib.h>\n#include <string.h>\n'
        "struct p { const float *a; float *r; };\n" + bodies + "static int32_t resolve(void *self, "
        "size_t count, const char *const *names,\n  alula_import_call *functions, void **c) {\n"
        "  for (size_t i = 1; i < count; ++i)\n    if (strcmp(names[i - 1], names[i]) >= 0) return 9;\n"
        "  for (size_t i = 0; i < count; ++i) {\n" + cases + "  }\n  return 0;\n}\n"
        "static int32_t load(const alula_import_environment *e, void **self) {\n"
        "  for (size_t i = 0; i < e->setting_count; ++i)\n"
        '    if (!strcmp(e->settings[i].key, "code")) return atoi(e->settings[i].value);\n'
        "  return 0;\n}\n"
        "static const alula_import_plugin table = {.struct_size = sizeof table, .abi_major = 1,\n"
        f'  .name = "{name}", .version = "1", .sanitizer = ALULA_IMPORT_SANITIZER, .load = load,\n'
        f"  .resolve = resolve {extra}}};\n"
        '__attribute__((visibility("default"))) const alula_import_plugin *\n'
        "alula_import_plugin_query(uint16_t major, uint16_t minor) {\n"
        "  return major == table.abi_major ? &table : 0;\n}\n"
    )
    return f"--executable-plugin={build(folder / f'{name}.so', folder / f'{name}.c', *flags)}"


@pytest.fixture
def importing(here):
    """A program that calls `first`, then `second`, and `third` if it is there."""
    type = "tensor<4xf32>"
    (here / "imports.mlir").write_text(f"""
func.func @main(%a: {type}) -> {type} {{
  %0 = dispatch.launch @k::@k(%a) : ({type}) -> {type}
  return %0 : {type}
}}
dispatch.executable @k {{
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {{
    func.func private @second({type}) -> {type} attributes {{dispatch.import = "dynamic"}}
    func.func private @first({type}) -> {type} attributes {{dispatch.import = "dynamic"}}
    func.func private @"?third"({type}) -> {type} attributes {{dispatch.import = "dynamic"}}
    func.func @k(%a: {type}) -> {type} {{
      %0 = func.call @first(%a) : ({type}) -> {type}
      %1 = func.call @second(%0) : ({type}) -> {type}
      %has = dispatch.has_import @"?third" : tensor<i1>
      %2 = "stablehlo.if"(%has) ({{
        %3 = func.call @"?third"(%1) : ({type}) -> {type}
        stablehlo.return %3 : {type}
      }}, {{
        stablehlo.return %1 : {type}
      }}) : (tensor<i1>) -> {type}
      return %2 : {type}
    }}
  }}
}}
""")
    artifact = here / "imports.alula"
    succeed(here / "imports.mlir", "--compile-from=dispatch", "-o", artifact)
    return artifact


def test_g14_all_missing_names_are_said_at_once(importing, here):
    result = run(importing, "--input=4xf32=1", tool="alula-run")
    assert result.returncode == 1
    assert "no plugin has what kernels import: 'first', 'second'" in result.stderr
    assert "third" not in result.stderr
    names = succeed(importing, "--list-imports", tool="alula-run")
    assert names == "first required, missing\nsecond required, missing\nthird optional, missing\n"
    one = provider(here, "one", {"first": 1})
    result = run(importing, one, "--input=4xf32=1", tool="alula-run")
    assert "no plugin has what kernels import: 'second'" in result.stderr


def test_g14_newest_first_and_partly(importing, here):
    one = provider(here, "one", {"first": 1, "second": 2})
    two = provider(here, "two", {"second": 20, "unused": 5})
    three = provider(here, "three", {"third": 100})

    def call(*plugins):
        return succeed(importing, *plugins, "--input=4xf32=0", tool="alula-run").strip()

    assert call(one) == "4xf32=3,3,3,3"
    assert call(one, two) == "4xf32=21,21,21,21"
    assert call(two, one) == "4xf32=3,3,3,3"
    assert call(two, three, one) == "4xf32=103,103,103,103"


def test_g14_plugins_that_are_refused(importing, here):
    def refuse(plugin, why):
        result = run(importing, plugin, "--input=4xf32=0", tool="alula-run")
        assert result.returncode == 1 and why in result.stderr, result.stderr

    both = {"first": 1, "second": 2}
    plugin = provider(here, "plugin", both)
    refuse(plugin + "?code=7", "import plugin 'plugin': could not be loaded: code 7")
    refuse(plugin + "?code", "--executable-plugin wants LIBRARY.so[?KEY=VALUE]")
    refuse("--executable-plugin=nowhere.so", "nowhere.so: cannot open shared object file")
    older = provider(here, "older", both, ", .abi_major = 2")
    refuse(older, "speaks no version of the interface that the runtime does, which is 1.0")
    other = provider(here, "other", both, ", .sanitizer = 1")
    refuse(other, "is built with another sanitizer: kind 1, the runtime has kind 0")
    newer = provider(here, "newer", both, ", .abi_minor = 9, .struct_size = 4096")
    assert "4xf32=3" in succeed(importing, newer, "--input=4xf32=0", tool="alula-run")


def test_g14_the_header_stands_alone(here):
    for compiler in ("clang-19", "gcc"):
        for standard in ("c99", "c11"):
            subprocess.run(
                [compiler, f"-std={standard}", "-pedantic", "-Wall", "-Werror", "-fsyntax-only"]
                + [
                    "-ffreestanding",
                    "-include",
                    ROOT / "include/alula/import.h",
                    "-x",
                    "c",
                    "/dev/null",
                ],
                check=True,
            )
    assert '#include "' not in (ROOT / "include/alula/import.h").read_text()


@pytest.mark.skip(reason="there is no bare-metal firmware yet")
def test_g15_a_standalone_plugin_in_firmware():
    pass
