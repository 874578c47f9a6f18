"""What the tests of objects share: compilers, and kernels for them to compile."""

import json
import re
import shutil
import sys

from support.tool_runs import (
    BIN,
    PATH,
    ROOT,
    check_failure,
    check_success,
    get_said,
    run_tool,
)

BYO = ROOT / "examples/byo"
CLANG = shutil.which("clang-19")
PTXAS = shutil.which("ptxas", path=f"{PATH}:/usr/local/cuda/bin")
V3 = "--target=cpu:x86-64-v3"


def run(program, *words, folder=None, path="", **options):
    return run_tool(program, *words, cwd=folder, environment={"PATH": PATH + path}, **options)


def succeed(*words, **options):
    return check_success(run(*words, **options))


def compile(program, *flags, output="out.alula", folder=None, target=V3):
    """What it said."""
    words = [program, *flags, "-o", output, *([target] if target else [])]
    result = run("alula-compile", *words, folder=folder)
    check_success(result)
    return get_said(result)


def fail(program, tag, *flags, folder=None, target=V3, count=1, status=1):
    output = folder / "fails.alula"
    words = [program, *flags, "-o", output, *([target] if target else [])]
    text = check_failure(run("alula-compile", *words, folder=folder), status)
    assert re.findall(r"error: \[([a-z-]+)\]", text) == [tag] * count, text
    assert not output.exists()
    return text


def call(artifact, *inputs, function="main", flags=(), runner=None, folder=None):
    words = [*(runner or [BIN / "alula-run"]), artifact, f"--function={function}", *flags]
    words += [f"--input={value}" for value in inputs]
    return succeed(*words, folder=folder).decode().splitlines()


def inspect(artifact, folder=None):
    return json.loads(succeed(BIN / "alula-inspect", artifact, "--json", folder=folder))


def build(folder, name, code, machine="x86_64", flags=()):
    source = folder / f"{name}.c"
    source.write_text(code)
    output = folder / f"{name}.o"
    common = ["-std=c99", "-O2", "-ffreestanding", "-fno-builtin", "-fPIC", "-fvisibility=hidden"]
    common += ["-fno-stack-protector", f"-I{ROOT / 'include'}", f"--target={machine}-none-elf"]
    succeed(CLANG, *common, *flags, "-c", source, "-o", output)
    return output


def build_bitcode(folder, name, code, machine="x86_64"):
    source = folder / f"{name}.c"
    source.write_text(code)
    output = folder / f"{name}.bc"
    flags = ["-std=c99", "-O2", "-ffreestanding", "-fno-builtin", "-emit-llvm"]
    succeed(
        CLANG, *flags, f"--target={machine}-unknown-linux-gnu", f"-I{ROOT / 'include'}", "-c",
        source, "-o", output,
    )  # fmt: skip
    return output


HEADER = '#include "alula/kernel_abi.h"\n'
SIGNATURE = "(const alula_kernel_args *args, uint32_t x, uint32_t y, uint32_t z)"


def kernel(body, name="main_0", before=""):
    """A kernel of one workgroup over f32: a, b and c are its bindings."""
    return f"""{HEADER}{before}
int32_t {name}{SIGNATURE} {{
  const float *a = args->bindings[0], *b = args->bindings[1];
  float *c = args->bindings[2];
  uint64_t n = args->binding_bytes[2] / sizeof(float);
  (void)a, (void)b, (void)x, (void)y, (void)z;
  for (uint64_t i = 0; i < n; ++i) {{ {body} }}
  return 0;
}}
"""


GOOD = kernel("c[i] = a[i] + 10 * b[i];")


def write_product(folder, size=8):
    path = folder / "mul.mlir"
    path.write_text((BYO / "mul.mlir").read_text().replace("8xf32", f"{size}xf32"))
    return path


def write_two(folder):
    """Two functions, so two kernels: first_0 and second_1."""
    path = folder / "two.mlir"
    functions = "\n".join(
        f"""func.func public @{name}(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {{
  %0 = stablehlo.{op} %a, %b : tensor<8xf32>
  return %0 : tensor<8xf32>
}}"""
        for name, op in [("first", "multiply"), ("second", "subtract")]
    )
    path.write_text(functions + "\n")
    return path


def substitute(file, name="main_0"):
    return f"--substitute-executable={name}={file}"


def write_ptx(folder, edit=lambda text: text):
    path = folder / "kernels.ptx"
    path.write_text(edit((BYO / "cuda/kernels.ptx").read_text()))
    return path


CUDA = "--target=cuda:sm_90"
TOOL = f"--preprocess-executables-with={sys.executable} {BYO / 'cuda/byo_cuda.py'}"


def attach(folder, file, target=""):
    """The flag of a tool that names a file for every executable."""
    tool = folder / "attach.py"
    tool.write_text("""
import re, sys
target = f'target = "{sys.argv[2]}", ' if len(sys.argv) > 2 else ""
objects = ", ".join(f'#dispatch.object<{target}path = "{file}">' for file in sys.argv[1].split(","))
text = sys.stdin.read()
print(re.sub(r"(dispatch.executable @\\S+) \\{", lambda m: f"{m[1]} attributes {{objects = [{objects}]}} {{", text))
""")
    return f"--preprocess-executables-with={sys.executable} {tool} {file} {target}"


def objects_tool(folder, *objects):
    tool = folder / "several.py"
    text = ", ".join(f'#dispatch.object<target = "{t}", path = "{p}">' for t, p in objects)
    tool.write_text(f"""
import re, sys
print(re.sub(r"(dispatch.executable @\\S+) \\{{", lambda m: m[1] + ' attributes {{objects = [{text}]}} {{', sys.stdin.read()))
""")
    return f"--preprocess-executables-with={sys.executable} {tool}"
