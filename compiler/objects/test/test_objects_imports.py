"""Functions that bodies call: B10, B12, B13."""

import re
import shutil
import sys
from pathlib import Path

import pytest
from object_runs import (
    CLANG,
    GOOD,
    V3,
    attach,
    build,
    build_bitcode,
    call,
    compile,
    fail,
    inspect,
    run,
    substitute,
    succeed,
)
from support.tool_runs import BIN, ROOT


def import_tool(folder, kind, file=""):
    """The flag of a tool that turns a product into a call of `ext`."""
    tool = folder / "call.py"
    tool.write_text("""
import re, sys
kind, name = sys.argv[1], sys.argv[2]
text = sys.stdin.read()
type = re.search(r"tensor<\\d+xf32>", text)[0]
if len(sys.argv) > 3:
    objects = f'#dispatch.object<path = "{sys.argv[3]}">'
    text = re.sub(r"(dispatch.executable @\\S+) \\{", lambda m: f"{m[1]} attributes {{objects = [{objects}]}} {{", text)
head = "    builtin.module {\\n"
text = text.replace(head, head + f'func.func private @"{name}"({type}, {type}, index) -> {type} attributes {{dispatch.import = "{kind}"}}\\n')
call = f'%n = arith.constant 8 : index\\n%c = func.call @"{name}"(%arg0, %arg1, %n) : ({type}, {type}, index) -> {type}\\n'
product = re.search(r" *%0 = (stablehlo.multiply [^\\n]*)\\n", text)
if name.startswith("?"):
    call = (f'%has = dispatch.has_import @"{name}" : tensor<i1>\\n%0 = "stablehlo.if"(%has) ({{\\n{call}'
            f'stablehlo.return %c : {type}\\n}}, {{\\n%m = {product[1]}\\nstablehlo.return %m : {type}\\n}}) : (tensor<i1>) -> {type}\\n')
else:
    call += f"%0 = stablehlo.add %c, %arg0 : {type}\\n"
print(text.replace(product[0], call))
""")
    name = "?ext" if kind == "optional" else "ext"
    kind = "dynamic" if kind == "optional" else kind
    return f"--preprocess-executables-with={sys.executable} {tool} {kind} '{name}' {file}".strip()


EXT = """#include <stdint.h>
void ext(const float *a, const float *b, int64_t n, float *r) {
  for (int64_t i = 0; i < n; ++i) r[i] = a[i] + 10 * b[i];
}
"""


def test_b10_imports_are_not_evaluated(tmp_path):
    program = tmp_path / "constants.mlir"
    program.write_text("""
func.func @main() -> tensor<8xf32> {
  %a = stablehlo.constant dense<2.0> : tensor<8xf32>
  %b = stablehlo.constant dense<4.0> : tensor<8xf32>
  %0 = dispatch.launch @main_0::@main_0(%a, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
dispatch.executable @main_0 {
  dispatch.entry @main_0 bindings([#dispatch<access read>, #dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func private @ext(tensor<8xf32>, tensor<8xf32>, index) -> tensor<8xf32> attributes {dispatch.import = "dynamic"}
    func.func @main_0(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
      %n = arith.constant 8 : index
      %0 = func.call @ext(%a, %b, %n) : (tensor<8xf32>, tensor<8xf32>, index) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
  }
}
""")
    said = compile(program, "--compile-from=dispatch", folder=tmp_path)
    assert "remark: not evaluated: needs import 'ext'" in said
    artifact = inspect("out.alula", folder=tmp_path)
    assert artifact["imports"] == [{"name": "ext", "optional": False}]
    result = run(BIN / "alula-run", "out.alula", "--function=main", folder=tmp_path)
    assert result.returncode != 0
    assert b"ext" in result.stderr


PLUGIN = """#include "alula/import.h"
#include <string.h>
struct params { const float *a, *b; int64_t n; float *r; };
static int32_t ext(void *memory, void *context, void *reserved) {
  struct params *p = memory;
  for (int64_t i = 0; i < p->n; ++i) p->r[i] = p->a[i] + 10 * p->b[i];
  return (void)context, (void)reserved, p->a[0] < 0 ? 7 : 0;
}
static int32_t resolve(void *self, size_t count, const char *const *names,
                       alula_import_call *functions, void **contexts) {
  (void)self, (void)contexts;
  for (size_t i = 0; i < count; ++i)
    if (!functions[i] && strcmp(names[i], "ext") == 0) functions[i] = ext;
  return 0;
}
const alula_import_plugin *alula_import_plugin_query(uint16_t major, uint16_t minor) {
  static const alula_import_plugin plugin = {
      sizeof plugin, 1, 0, "test", "1", 0, ALULA_IMPORT_SANITIZER_NONE, 0, 0, resolve, 0};
  return (void)minor, major == 1 ? &plugin : 0;
}
"""


def test_b12_an_optional_import_there_and_not(tmp_path, product):
    compile(product, import_tool(tmp_path, "optional"), folder=tmp_path)
    assert inspect("out.alula", folder=tmp_path)["imports"] == [{"name": "ext", "optional": True}]
    got = call("out.alula", "8xf32=2", "8xf32=4", folder=tmp_path)
    assert got[-1] == "8xf32=" + ",".join(["8"] * 8)
    (tmp_path / "plugin.c").write_text(PLUGIN)
    flags = ["-shared", "-fPIC", f"-I{ROOT / 'include'}"]
    succeed(CLANG, *flags, tmp_path / "plugin.c", "-o", tmp_path / "plugin.so")
    plugin = [f"--executable-plugin={tmp_path / 'plugin.so'}"]
    got = call("out.alula", "8xf32=2", "8xf32=4", flags=plugin, folder=tmp_path)
    assert got[-1] == "8xf32=" + ",".join(["42"] * 8)
    # What an import returns is what the kernel returns.
    words = ["out.alula", "--function=main", *plugin, "--input=8xf32=-2", "--input=8xf32=4"]
    result = run(BIN / "alula-run", *words, folder=tmp_path)
    assert result.returncode != 0 and b"7" in result.stderr


def test_b12_a_needed_import(tmp_path, product):
    compile(product, import_tool(tmp_path, "dynamic"), folder=tmp_path)
    words = ["out.alula", "--function=main", "--input=8xf32=2", "--input=8xf32=4"]
    result = run(BIN / "alula-run", *words, folder=tmp_path)
    assert result.returncode != 0 and b"ext" in result.stderr


def test_b13_bitcode_is_inlined(tmp_path, product):
    file = build_bitcode(tmp_path, "ext", EXT)
    compile(product, import_tool(tmp_path, "bitcode", file), folder=tmp_path)
    got = call("out.alula", "8xf32=2", "8xf32=4", folder=tmp_path)
    assert got[-1] == "8xf32=" + ",".join(["44"] * 8)
    image = succeed(BIN / "alula-inspect", "out.alula", "--extract=x86-64-v3", folder=tmp_path)
    (tmp_path / "image.elf").write_bytes(image)
    objdump = shutil.which("llvm-objdump-19")
    if not objdump:
        pytest.skip("no llvm-objdump-19")
    code = succeed(objdump, "-d", "--no-show-raw-insn", tmp_path / "image.elf").decode()
    assert not re.search(r"\bcall", code)
    [variant] = inspect("out.alula", folder=tmp_path)["variants"]
    assert variant["origins"]["main_0"].startswith("generated, bitcode ext.bc sha256:")


def test_b13_a_static_import_is_called(tmp_path, product):
    file = build(tmp_path, "ext", EXT)
    compile(product, import_tool(tmp_path, "static", file), folder=tmp_path)
    got = call("out.alula", "8xf32=2", "8xf32=4", folder=tmp_path)
    assert got[-1] == "8xf32=" + ",".join(["44"] * 8)


def test_b13_an_entry_of_bitcode(tmp_path, product):
    file = build_bitcode(tmp_path, "whole", GOOD)
    compile(product, substitute(file), folder=tmp_path)
    got = call("out.alula", "8xf32=2", "8xf32=4", folder=tmp_path)
    assert got[-1] == "8xf32=" + ",".join(["42"] * 8)


def test_b13_damaged_bitcode(tmp_path, product):
    good = build_bitcode(tmp_path, "whole", GOOD).read_bytes()
    damaged = tmp_path / "damaged.bc"
    for size in range(64, len(good) - 4, len(good) // 12 // 4 * 4):
        damaged.write_bytes(good[:size])
        flag = attach(tmp_path, "damaged.bc", "cpu")
        result = run(BIN / "alula-compile", product, flag, V3, "-o", "o", folder=tmp_path)
        assert result.returncode == 1, size
        assert b"[obj-damaged] @main_0: 'damaged.bc': is damaged: " in result.stderr


def test_b13_bitcode_without_an_end(tmp_path, product):
    """A byte of this file lets LLVM's reader allocate until there is nothing left."""
    file = tmp_path / "endless.bc"
    shutil.copy(Path(__file__).parent / "Inputs/endless.bc", file)
    for flag in (substitute(file), attach(tmp_path, "endless.bc", "cpu")):
        said = fail(product, "obj-damaged", flag, folder=tmp_path)
        assert "@main_0: 'endless.bc': is damaged: LLVM " in said


def test_b13_wrong_imports(tmp_path, product):
    def tool(*words):
        return import_tool(tmp_path, *words)

    said = fail(product, "obj-undefined", tool("static"), folder=tmp_path)
    assert "no object for cpu:x86-64-v3 has what the body calls: ext" in said
    said = fail(product, "obj-import", tool("sometimes"), folder=tmp_path)
    assert (
        "an import must be a function without a body, and static, bitcode or dynamic: "
        '@ext is "sometimes"' in said
    )
    state = "int counter;\n__thread int thread;\n" + EXT.replace(
        "r[i] =", "r[i] = counter++ + thread++ +"
    )
    file = build_bitcode(tmp_path, "state", state)
    result = run(BIN / "alula-compile", product, tool("bitcode", file), V3, "-o", tmp_path / "o")
    assert b"'state.bc': has memory that is written: counter" in result.stderr
    assert b"'state.bc': has thread-local storage: thread" in result.stderr
    file = build_bitcode(tmp_path, "arm", EXT, machine="aarch64")
    said = fail(product, "obj-target", substitute(file), folder=tmp_path)
    assert "'arm.bc' is for cpu:aarch64" in said
    said = fail(product, "obj-machine", attach(tmp_path, "arm.bc", "cpu"), folder=tmp_path)
    assert "'arm.bc': must be for x86_64: is bitcode for aarch64" in said


HOIST = """
import re, sys
text = sys.stdin.read()
type = re.search(r"tensor<\\d+xf32>", text)[0]
def declare(name):
    objects = sys.argv[1].replace("FILE", '#dispatch.object<path = "ext.o">')
    return (f'func.func private @{name}({type}, {type}, index) -> {type} '
            f'attributes {{dispatch.import = "static", dispatch.objects = {objects}}}\\n')
head = "    builtin.module {\\n"
text = text.replace(head, head + declare("ext") + declare("ext2"))
call = (f'%n = arith.constant 8 : index\\n%c = func.call @ext(%arg0, %arg1, %n) : ({type}, {type}, index) -> {type}\\n'
        f'%0 = func.call @ext2(%c, %arg1, %n) : ({type}, {type}, index) -> {type}\\n')
print(re.sub(r" *%0 = stablehlo.multiply [^\\n]*\\n", call, text))
"""


def test_objects_of_declarations_are_there_once(tmp_path, product):
    build(tmp_path, "ext", EXT + EXT.replace("ext(", "ext2(").replace("#include <stdint.h>", ""))
    (tmp_path / "hoist.py").write_text(HOIST)

    def tool(objects):
        return f"--preprocess-executables-with={sys.executable} hoist.py '{objects}'"

    compile(product, tool("[FILE]"), folder=tmp_path)
    got = call("out.alula", "8xf32=2", "8xf32=4", folder=tmp_path)
    assert got[-1] == "8xf32=" + ",".join(["82"] * 8)
    [variant] = inspect("out.alula", folder=tmp_path)["variants"]
    assert variant["origins"]["main_0"].count("object ext.o") == 1
    said = run(
        BIN / "alula-compile", product, tool("1 : i32"), V3, "-o", "o", folder=tmp_path
    ).stderr
    assert b"[obj-import] @main_0: dispatch.objects must be a list of objects: is 1 : i32" in said
