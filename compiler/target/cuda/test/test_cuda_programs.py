"""Programs become PTX: what the texts and the launches are, and that ptxas takes them."""

import re
import shutil

import pytest
from support import cuda_image
from support.tool_runs import PATH, check_failure, check_success, run_tool

PTXAS = shutil.which("ptxas", path=f"{PATH}:/usr/local/cuda/bin")
CHIPS = {"sm_80": ("7.0", "sm_80"), "sm_90a": ("8.0", "sm_90a")}
BINDING, CONSTANT = 1, 3

PROGRAMS = {
    "map": """
func.func @main(%x: tensor<64x512xf32>, %y: tensor<512xf32>) -> tensor<64x512xf32> {
  %b = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<512xf32>) -> tensor<64x512xf32>
  %0 = stablehlo.add %x, %b : tensor<64x512xf32>
  %1 = stablehlo.exponential %0 : tensor<64x512xf32>
  return %1 : tensor<64x512xf32>
}""",
    "rows_of_words": """
func.func @main(%x: tensor<512x4096xf32>, %y: tensor<4096xf32>) -> tensor<512x4096xf32> {
  %b = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<4096xf32>) -> tensor<512x4096xf32>
  %0 = stablehlo.add %x, %b : tensor<512x4096xf32>
  return %0 : tensor<512x4096xf32>
}""",
    "odd_halves": """
func.func @main(%x: tensor<1001x701xbf16>) -> tensor<1001x701xbf16> {
  %0 = stablehlo.multiply %x, %x : tensor<1001x701xbf16>
  return %0 : tensor<1001x701xbf16>
}""",
    "softmax": """
func.func @main(%x: tensor<64x512xf32>) -> tensor<64x512xf32> {
  %ninf = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %ninf) applies stablehlo.maximum across dimensions = [1] : (tensor<64x512xf32>, tensor<f32>) -> tensor<64xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<64xf32>) -> tensor<64x512xf32>
  %s = stablehlo.subtract %x, %mb : tensor<64x512xf32>
  %e = stablehlo.exponential %s : tensor<64x512xf32>
  %t = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x512xf32>, tensor<f32>) -> tensor<64xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<64xf32>) -> tensor<64x512xf32>
  %r = stablehlo.divide %e, %tb : tensor<64x512xf32>
  return %r : tensor<64x512xf32>
}""",
    "product": """
func.func @main(%x: tensor<128x256xbf16>, %y: tensor<256x64xbf16>) -> (tensor<128x64xbf16>, tensor<bf16>) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<128x256xbf16>, tensor<256x64xbf16>) -> tensor<128x64xbf16>
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %3 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<128x64xbf16>, tensor<bf16>) -> tensor<bf16>
  %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<bf16>) -> tensor<128x64xbf16>
  %5 = stablehlo.divide %0, %4 : tensor<128x64xbf16>
  return %5, %3 : tensor<128x64xbf16>, tensor<bf16>
}""",
    "loop": """
func.func @main(%x: tensor<64x64xf32>, %n: tensor<i32>) -> tensor<64x64xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%a = %x, %i = %zero) : tensor<64x64xf32>, tensor<i32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
      %s = stablehlo.sine %t : tensor<64x64xf32>
      stablehlo.return %s, %next : tensor<64x64xf32>, tensor<i32>
    }
  return %r#0 : tensor<64x64xf32>
}""",
    "sort": """
func.func @main(%x: tensor<8x300xf32>, %v: tensor<8x300xi32>) -> (tensor<8x300xf32>, tensor<8x300xi32>) {
  %0:2 = "stablehlo.sort"(%x, %v) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true} : (tensor<8x300xf32>, tensor<8x300xi32>) -> (tensor<8x300xf32>, tensor<8x300xi32>)
  return %0#0, %0#1 : tensor<8x300xf32>, tensor<8x300xi32>
}""",
    "convolution": """
func.func @main(%x: tensor<2x16x16x8xf32>, %k: tensor<3x3x8x16xf32>) -> tensor<2x16x16x16xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x16x8xf32>, tensor<3x3x8x16xf32>) -> tensor<2x16x16x16xf32>
  return %0 : tensor<2x16x16x16xf32>
}""",
    "linear_algebra": """
func.func @main(%x: tensor<4x8x8xf32>, %b: tensor<4x8x2xf32>, %c: tensor<64xcomplex<f32>>) -> (tensor<4x8x2xf32>, tensor<64xcomplex<f32>>) {
  %0 = stablehlo.cholesky %x, lower = true : tensor<4x8x8xf32>
  %1 = "stablehlo.triangular_solve"(%0, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<4x8x8xf32>, tensor<4x8x2xf32>) -> tensor<4x8x2xf32>
  %2 = stablehlo.fft %c, type = FFT, length = [64] : (tensor<64xcomplex<f32>>) -> tensor<64xcomplex<f32>>
  return %1, %2 : tensor<4x8x2xf32>, tensor<64xcomplex<f32>>
}""",
    "movement": """
func.func @main(%x: tensor<64xf32>, %i: tensor<16x1xi32>, %u: tensor<16xf32>, %s: tensor<2xui64>) -> (tensor<64xf32>, tensor<2xui64>, tensor<100xui32>, tensor<62xf32>, tensor<16xf32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %p : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<64xf32>, tensor<16x1xi32>, tensor<16xf32>) -> tensor<64xf32>
  %st, %bits = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<100xui32>)
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %w = "stablehlo.reduce_window"(%x, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %p : tensor<f32>
  }) {window_dimensions = array<i64: 3>} : (tensor<64xf32>, tensor<f32>) -> tensor<62xf32>
  %g = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>} : (tensor<64xf32>, tensor<16x1xi32>) -> tensor<16xf32>
  return %0, %st, %bits, %w, %g : tensor<64xf32>, tensor<2xui64>, tensor<100xui32>, tensor<62xf32>, tensor<16xf32>
}""",
    "sizes": """
func.func @main(%x: tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.exponential %x : tensor<?x16xf32>
  %t = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<?x16xf32>, tensor<f32>) -> tensor<?xf32>
  return %1, %t : tensor<?x16xf32>, tensor<?xf32>
}""",
    "attention": """
func.func @main(%q: tensor<4x300x128xbf16>, %k: tensor<4x300x128xbf16>, %v: tensor<4x300x128xbf16>) -> tensor<300x4x128xbf16> {
  %ninf = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %scale = stablehlo.constant dense<0.125> : tensor<4x300x300xbf16>
  %hidden = stablehlo.constant dense<0xFF80> : tensor<4x300x300xbf16>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x300x128xbf16>, tensor<4x300x128xbf16>) -> tensor<4x300x300xbf16>
  %scaled = stablehlo.multiply %s, %scale : tensor<4x300x300xbf16>
  %i = stablehlo.iota dim = 1 : tensor<4x300x300xi32>
  %j = stablehlo.iota dim = 2 : tensor<4x300x300xi32>
  %seen = stablehlo.compare GE, %i, %j : (tensor<4x300x300xi32>, tensor<4x300x300xi32>) -> tensor<4x300x300xi1>
  %x = stablehlo.select %seen, %scaled, %hidden : tensor<4x300x300xi1>, tensor<4x300x300xbf16>
  %m = stablehlo.reduce(%x init: %ninf) applies stablehlo.maximum across dimensions = [2] : (tensor<4x300x300xbf16>, tensor<bf16>) -> tensor<4x300xbf16>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<4x300xbf16>) -> tensor<4x300x300xbf16>
  %d = stablehlo.subtract %x, %mb : tensor<4x300x300xbf16>
  %w = stablehlo.convert %d : (tensor<4x300x300xbf16>) -> tensor<4x300x300xf32>
  %e = stablehlo.exponential %w : tensor<4x300x300xf32>
  %t = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x300x300xf32>, tensor<f32>) -> tensor<4x300xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<4x300xf32>) -> tensor<4x300x300xf32>
  %p = stablehlo.divide %e, %tb : tensor<4x300x300xf32>
  %pw = stablehlo.convert %p : (tensor<4x300x300xf32>) -> tensor<4x300x300xbf16>
  %o = stablehlo.dot_general %pw, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x300x300xbf16>, tensor<4x300x128xbf16>) -> tensor<4x300x128xbf16>
  %r = stablehlo.transpose %o, dims = [1, 0, 2] : (tensor<4x300x128xbf16>) -> tensor<300x4x128xbf16>
  return %r : tensor<300x4x128xbf16>
}""",
    "attention_of_words": """
func.func @main(%q: tensor<4x300x128xf32>, %k: tensor<4x300x128xf32>, %v: tensor<4x300x128xf32>) -> tensor<300x4x128xf32> {
  %ninf = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %scale = stablehlo.constant dense<0.125> : tensor<4x300x300xf32>
  %hidden = stablehlo.constant dense<0xFF800000> : tensor<4x300x300xf32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x300x128xf32>, tensor<4x300x128xf32>) -> tensor<4x300x300xf32>
  %scaled = stablehlo.multiply %s, %scale : tensor<4x300x300xf32>
  %i = stablehlo.iota dim = 1 : tensor<4x300x300xi32>
  %j = stablehlo.iota dim = 2 : tensor<4x300x300xi32>
  %seen = stablehlo.compare GE, %i, %j : (tensor<4x300x300xi32>, tensor<4x300x300xi32>) -> tensor<4x300x300xi1>
  %x = stablehlo.select %seen, %scaled, %hidden : tensor<4x300x300xi1>, tensor<4x300x300xf32>
  %m = stablehlo.reduce(%x init: %ninf) applies stablehlo.maximum across dimensions = [2] : (tensor<4x300x300xf32>, tensor<f32>) -> tensor<4x300xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<4x300xf32>) -> tensor<4x300x300xf32>
  %d = stablehlo.subtract %x, %mb : tensor<4x300x300xf32>
  %e = stablehlo.exponential %d : tensor<4x300x300xf32>
  %t = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x300x300xf32>, tensor<f32>) -> tensor<4x300xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<4x300xf32>) -> tensor<4x300x300xf32>
  %p = stablehlo.divide %e, %tb : tensor<4x300x300xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x300x300xf32>, tensor<4x300x128xf32>) -> tensor<4x300x128xf32>
  %r = stablehlo.transpose %o, dims = [1, 0, 2] : (tensor<4x300x128xf32>) -> tensor<300x4x128xf32>
  return %r : tensor<300x4x128xf32>
}""",
}

# Accesses of 16 bytes that a program's PTX has, at least.
ACCESSES = {
    "attention": ["cp.async.cg.shared.global", "ldmatrix.sync.aligned.m8n8.x4.trans"],
    "rows_of_words": ["ld.global.nc.v4.f32", "st.global.v4.f32"],
    "odd_halves": ["ld.global.nc.v4.u32", "st.global.v4.b32"],
    "softmax": ["ld.global.nc.v4.f32", "st.global.v4.f32"],
}


def compile(folder, program, *flags):
    source, artifact = folder / "program.mlir", folder / "program.alula"
    source.write_text(program)
    return artifact, run_tool("alula-compile", source, "-o", artifact, *flags)


def read_image(artifact, target):
    return cuda_image.read(
        check_success(run_tool("alula-inspect", artifact, f"--extract={target}"))
    )


@pytest.fixture(scope="module", params=CHIPS)
def chip(request):
    return request.param


@pytest.fixture(scope="module", params=PROGRAMS)
def image(request, chip, tmp_path_factory):
    artifact, result = compile(
        tmp_path_factory.mktemp(request.param), PROGRAMS[request.param], f"--target=cuda:{chip}"
    )
    check_success(result)
    return read_image(artifact, f"cuda:{chip}")


def test_texts(image, chip):
    """The lowest version, one form; nothing is called that is not there."""
    version, target = CHIPS[chip]
    entries = {launch.entry for kernel in image.kernels for launch in kernel}
    found = set()
    for [code] in image.modules:
        assert code.chip == int(chip[3:5])
        assert bool(code.flags & cuda_image.EXACT) == chip.endswith("a")
        assert re.search(r"^\.version (.*)$", code.text, re.MULTILINE)[1] == version
        assert re.search(r"^\.target (.*)$", code.text, re.MULTILINE)[1] == target
        found |= set(re.findall(r"\.entry (\w+)\(", code.text))
        assert not re.search(r"\.extern (?!\.shared)", code.text)
    assert found == entries


@pytest.mark.parametrize("name", ACCESSES)
def test_accesses(name, chip, tmp_path):
    artifact, result = compile(tmp_path, PROGRAMS[name], f"--target=cuda:{chip}")
    check_success(result)
    text = "".join(code.text for [code] in read_image(artifact, f"cuda:{chip}").modules)
    assert all(access in text for access in ACCESSES[name])


def test_launches(image):
    for kernel in image.kernels:
        [launch] = kernel
        [code] = image.modules[launch.module]
        head = code.text[code.text.index(f".entry {launch.entry}(") :]
        head = head[: head.index("{")]
        assert len(re.findall(r"\.param \.u64", head)) == len(launch.arguments)
        threads = int(re.search(r"\.reqntid (\d+), 1, 1", head)[1])
        assert threads in (256, 384) and launch.block == (threads, 1, 1)
        assert launch.grid == (1, 1, 1) and launch.grid_axis == (0, 1, 2)
        # All bindings, then all numbers.
        kinds = [kind for kind, *_ in launch.arguments]
        assert kinds == sorted(kinds) and set(kinds) <= {BINDING, CONSTANT}


def test_ptxas(image, chip, tmp_path):
    if not PTXAS:
        pytest.skip("no ptxas: NVIDIA's toolkit and its wheel nvidia-cuda-nvcc-cu12 have it")
    for number, [code] in enumerate(image.modules):
        text = tmp_path / f"{number}.ptx"
        text.write_text(code.text)
        check_success(run_tool(PTXAS, f"-arch={chip}", text, "-o", tmp_path / "out.cubin"))


GROUP_PRODUCT = """
func.func @main(%x: tensor<512x512xbf16>, %y: tensor<512x512xbf16>) -> tensor<512x512xbf16> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<512x512xbf16>, tensor<512x512xbf16>) -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}"""


@pytest.mark.parametrize("name,threads,at_least", [("sm_80", 256, 0), ("sm_90a", 384, 192 << 10)])
def test_memory_that_launches_ask_for(tmp_path, name, threads, at_least):
    """More than a variable of a block may have has a name in the text and no size."""
    artifact, result = compile(tmp_path, GROUP_PRODUCT, f"--target=cuda:{name}")
    check_success(result)
    image = read_image(artifact, f"cuda:{name}")
    launches = [launch for kernel in image.kernels for launch in kernel]
    assert launches[0].block == (threads, 1, 1)
    assert at_least <= launches[0].shared_bytes <= 227 << 10
    # The second adds up parts of the depth.
    assert [launch.shared_bytes for launch in launches[1:]] == [0] * (len(launches) - 1)
    [[code], *_] = image.modules
    asks = re.findall(r"\.extern \.shared \.align 1024 \.b8 \w+\[\];", code.text)
    assert len(asks) == bool(at_least)
    sizes = [int(size) for size in re.findall(r"\.shared .*\[(\d+)\]", code.text)]
    assert max(sizes, default=0) <= 48 << 10


def test_elements_of_threads_are_neighbours(tmp_path):
    """A map has one loop over all elements, whatever their shape is."""
    artifact, result = compile(tmp_path, PROGRAMS["map"], "--target=cuda:sm_80")
    check_success(result)
    [[code]] = read_image(artifact, "cuda:sm_80").modules
    assert len(re.findall(r"ld\.global\.nc\.f32", code.text)) >= 2
    assert "bar.sync" not in code.text


def test_waits_are_not_optimized_away(tmp_path):
    artifact, result = compile(tmp_path, PROGRAMS["loop"], "--target=cuda:sm_80")
    check_success(result)
    texts = [code.text for [code] in read_image(artifact, "cuda:sm_80").modules]
    assert any("bar.sync" in text for text in texts)


def test_same_bytes(tmp_path):
    artifact, result = compile(tmp_path, PROGRAMS["softmax"], "--target=cuda:sm_80")
    check_success(result)
    first = artifact.read_bytes()
    check_success(compile(tmp_path, PROGRAMS["softmax"], "--target=cuda:sm_80")[1])
    assert artifact.read_bytes() == first


def test_one_file_for_both(tmp_path):
    """Each machine has a program of its own; here the CPU's runs."""
    program = PROGRAMS["sizes"]
    artifact, result = compile(tmp_path, program, "--target=cpu:host", "--target=cuda:sm_80")
    check_success(result)
    said = check_success(run_tool("alula-inspect", artifact)).decode()
    assert "cuda:sm_80" in said and "cpu:host" in said
    got = check_success(run_tool("alula-run", artifact, "--function=main", "--input=2x16xf32=0"))
    assert got.decode().splitlines()[-1] == "2xf32=16,16"


def test_devices(tmp_path):
    program = PROGRAMS["map"]
    for name, version, target in [
        ("sm_86", "7.1", "sm_86"),
        ("sm_90", "7.8", "sm_90"),
        ("sm_100", "7.8", "sm_90"),
    ]:
        artifact, result = compile(tmp_path, program, f"--target=cuda:{name}")
        check_success(result)
        [[code]] = read_image(artifact, f"cuda:{name}").modules
        assert f".version {version}\n.target {target}\n" in code.text
    said = check_failure(compile(tmp_path, program, "--target=cuda:sm_75")[1], 1)
    assert "no code generator for devices before sm_80: is 'sm_75'" in said


def test_what_is_not_possible_is_said(tmp_path):
    program = """
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = dispatch.launch @main_0::@main_0(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
dispatch.executable @main_0 {
  dispatch.entry @main_0 bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func private @ext(tensor<8xf32>) -> tensor<8xf32> attributes {dispatch.import = "dynamic"}
    func.func @main_0(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0 = func.call @ext(%a) : (tensor<8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
  }
}"""
    flags = ["--target=cuda:sm_80", "--compile-from=dispatch"]
    said = check_failure(compile(tmp_path, program, *flags)[1], 1)
    assert "error: [obj-import] @main_0: kernels of cuda:sm_80 can't call functions" in said
