"""Programs that the tests of stages compile, and how they call the compiler."""

from support.tool_runs import BIN, ROOT, check_failure, check_success, run_tool

COMPILE = BIN / "alula-compile"
STAGES = ["input", "optimize", "partition", "dispatch", "plan", "kernel", "schedule", "target"]

# Weights of several kinds: a splat, spelled out, hex of 128 elements, NaNs with payloads, a resource.
HEX = "".join(f"{i:02X}00803F" for i in range(128))
MLP = f"""module @mlp {{
func.func public @main(%x: tensor<4x16xf32> {{jax.arg_info = "x"}}, %n: tensor<4xf32>) -> (tensor<4x16xf32>, tensor<4xf32>, tensor<128xf32>, tensor<3xi64>) {{
  %w = stablehlo.constant dense<0.5> : tensor<16x16xf32>
  %odd = stablehlo.constant dense<[0x7FC00001, 0xFF800000, 0x80000000, 0x7FA12345]> : tensor<4xf32>
  %hex = stablehlo.constant dense<"0x{HEX}"> : tensor<128xf32>
  %res = stablehlo.constant dense_resource<numbers> : tensor<3xi64>
  %0 = stablehlo.dot %x, %w : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %1 = stablehlo.tanh %0 : tensor<4x16xf32>
  %2 = stablehlo.dot %1, %w : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %3 = stablehlo.abs %2 : tensor<4x16xf32>
  %4 = stablehlo.maximum %n, %odd : tensor<4xf32>
  return %3, %4, %hex, %res : tensor<4x16xf32>, tensor<4xf32>, tensor<128xf32>, tensor<3xi64>
}}
}}
{{-#
  dialect_resources: {{
    builtin: {{
      numbers: "0x08000000010000000000000002000000000000000300000000000000"
    }}
  }}
#-}}
"""

LOOP = """func.func @main(%x: tensor<64x64xf32>, %n: tensor<i32>) -> tensor<64x64xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<64x64xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      %p = stablehlo.dot %v, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      stablehlo.return %next, %p : tensor<i32>, tensor<64x64xf32>
    }
  return %r#1 : tensor<64x64xf32>
}
"""

GLOBALS = (ROOT / "tests/compile/Inputs/globals.mlir").read_text()

DYNAMIC = """func.func @main(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %0 = stablehlo.dot %x, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %1 = stablehlo.exponential %0 : tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}
"""

CUSTOM = """func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %x, %x : tensor<8xf32>
  %1 = stablehlo.custom_call @mine(%0) {backend_config = "\\01\\00z"} : (tensor<8xf32>) -> tensor<8xf32>
  %2 = stablehlo.abs %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
"""

# Rows that several loops read: a kernel with a buffer for one row.
ROWS = """func.func @main(%x: tensor<128x512xf32>) -> tensor<128x512xf32> {
  %ninf = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %ninf) applies stablehlo.maximum across dimensions = [1] : (tensor<128x512xf32>, tensor<f32>) -> tensor<128xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<128xf32>) -> tensor<128x512xf32>
  %s = stablehlo.subtract %x, %mb : tensor<128x512xf32>
  %e = stablehlo.exponential %s : tensor<128x512xf32>
  %t = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<128x512xf32>, tensor<f32>) -> tensor<128xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<128xf32>) -> tensor<128x512xf32>
  %r = stablehlo.divide %e, %tb : tensor<128x512xf32>
  return %r : tensor<128x512xf32>
}
"""

COMPLEX = """func.func @main(%x: tensor<8xcomplex<f32>>) -> (tensor<8xcomplex<f32>>, tensor<8xf32>) {
  %c = stablehlo.constant dense<(1.0, 0x7FC00001)> : tensor<8xcomplex<f32>>
  %0 = stablehlo.exponential %x : tensor<8xcomplex<f32>>
  %1 = stablehlo.multiply %0, %c : tensor<8xcomplex<f32>>
  %2 = stablehlo.abs %0 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
  return %1, %2 : tensor<8xcomplex<f32>>, tensor<8xf32>
}
"""

# Three products that don't share a kernel, with epilogues of their own.
CHAIN = """module @chain {
func.func public @main(%x: tensor<256x256xf32>, %w: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %0 = stablehlo.dot %x, %w : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %1 = stablehlo.abs %0 : tensor<256x256xf32>
  %2 = stablehlo.dot %1, %w : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %3 = stablehlo.floor %2 : tensor<256x256xf32>
  %4 = stablehlo.dot %3, %w : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  return %4 : tensor<256x256xf32>
}
}
"""

TARGET = "--target=cpu:x86-64-v3"
# Name: text and flags.
PROGRAMS = {
    "mlp": (MLP, [TARGET]),
    "loop": (LOOP, [TARGET, "--target=cpu:x86-64-v2"]),
    "rows": (ROWS, [TARGET]),
    "complex": (COMPLEX, [TARGET]),
    "globals": (GLOBALS, []),
    "dynamic": (DYNAMIC, [TARGET]),
    "custom": (CUSTOM, [TARGET, "--custom-call=mine"]),
    "external": (
        MLP,
        [TARGET, "--externalize-constants=w.safetensors", "--externalize-min-bytes=16"],
    ),
}


def run(*arguments, program=COMPILE, **options):
    return run_tool(program, *arguments, **options)


def succeed(*arguments, **options):
    return check_success(run(*arguments, **options))


def fail(*arguments, status=2, **options):
    """What is said; nothing may come out."""
    result = run(*arguments, **options)
    assert result.stdout == b""
    return check_failure(result, status)


def write(folder, name):
    """The file of a program and its flags."""
    text, flags = PROGRAMS[name]
    path = folder / f"{name}.mlir"
    path.write_text(text)
    return path, flags


def compile_straight(folder, name):
    """A program's file, its flags and its artifact."""
    path, flags = write(folder, name)
    artifact = folder / "straight.alula"
    succeed(path, *flags, "-o", artifact, cwd=folder)
    return path, flags, artifact.read_bytes()
