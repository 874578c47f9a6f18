"""Products by warpgroups of sm_90a (compiler/target/cuda/kernel/group_product.h), interpreted:
all layouts, edges, batches and epilogues, to what the same is in f64; mistakes in their PTX."""

import ctypes
import functools
import re
import shutil
import subprocess

import changed_ptx
import fake_gpu
import interpreted
import pytest
from interpreted import TYPES, draw
from support.tool_runs import PATH

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

import alula_library

pytestmark = fake_gpu.needs_build
tools = interpreted.tools
TARGET = "cuda:sm_90a"
PTXAS = shutil.which("ptxas", path=f"{PATH}:/usr/local/cuda/bin")
KINDS = ["bf16", "f16"]
read_text = functools.partial(interpreted.read_text, target=TARGET)


def multiply(left, right):
    def function(a, b):
        return lax.dot_general(a, b, (((left,), (right,)), ((), ())))

    return function


def count_products(text, columns=128):
    return len(re.findall(rf"wgmma\.mma_async\.sync\.aligned\.m64n{columns}k16", text))


def check(tools, folder, function, *arrays, columns=128):
    """It is multiplied by warpgroups, and right."""
    assert count_products(read_text(tools, folder, function, *arrays), columns) > 0
    interpreted.check(tools, function, *arrays, target=TARGET)


def place(a, b, left, right):
    """A product's operands as contracted dimensions want them."""
    return a if left else a.T.copy(), b.T.copy() if right else b


LAYOUTS = [(1, 0), (1, 1), (0, 0), (0, 1)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("left,right", LAYOUTS)
def test_layouts(tools, tmp_path, kind, left, right):
    """Either operand lies along its depth or across; nothing is a multiple of a tile."""
    arrays = place(draw(kind, 136, 200), draw(kind, 200, 152), left, right)
    check(tools, tmp_path, multiply(left, right), *arrays)


@pytest.mark.parametrize("left,right,depth", [(1, 0, 296), (0, 1, 88)])
def test_wide_tiles(tools, tmp_path, left, right, depth):
    """Tiles of 256 columns, where some core has two of the others anyway: here one for each
    matrix. More stages than the ring has, and fewer."""
    a, b = draw("bf16", 70, 64, depth), draw("bf16", 70, depth, 200)
    if not left:
        a = a.swapaxes(1, 2).copy()
    if right:
        b = b.swapaxes(1, 2).copy()

    def function(a, b):
        return lax.dot_general(a, b, (((left + 1,), (right + 1,)), ((0,), (0,))))

    check(tools, tmp_path, function, a, b, columns=256)


@pytest.mark.parametrize(
    "rows,depth,columns",
    [(65, 512, 64), (129, 64, 136), (64, 448, 264), (256, 128, 128), (200, 64, 256)],
)
@pytest.mark.parametrize("left,right", [(1, 1), (1, 0)])
def test_edges(tools, tmp_path, rows, depth, columns, left, right):
    """Whole tiles and rests; fewer stages than the ring has, as many, more."""
    arrays = place(draw("bf16", rows, depth), draw("bf16", depth, columns), left, right)
    check(tools, tmp_path, multiply(left, right), *arrays)


def test_batches(tools, tmp_path):
    """Those of attention, whose lines lie among those of other heads."""
    q, k = draw("bf16", 2, 80, 3, 64), draw("bf16", 2, 208, 3, 64)
    check(tools, tmp_path, lambda q, k: jnp.einsum("bqhd,bkhd->bhqk", q, k), q, k)
    v, p = draw("bf16", 2, 3, 208, 64), draw("bf16", 2, 3, 80, 208)
    check(tools, tmp_path, lambda p, v: jnp.einsum("bhqk,bhkd->bhqd", p, v), p, v)


def test_epilogue(tools, tmp_path):
    """What follows is done where the sums are: one kernel."""

    def function(x, w, bias):
        return jax.nn.relu(x @ w + bias) * x[:, :1]

    arrays = [draw("bf16", 130, 96), draw("bf16", 96, 144), draw("bf16", 144)]
    check(tools, tmp_path, function, *arrays)
    assert read_text(tools, tmp_path, function, *arrays).count(".entry") == 1


@pytest.mark.parametrize("rows", [1000, 1024])
def test_neighbours_are_stored_together(tools, tmp_path, rows):
    """Where rows of tiles end with the product's, however many there are."""
    text = read_text(
        tools, tmp_path, multiply(1, 0), draw("bf16", rows, 64), draw("bf16", 64, 3072)
    )
    assert count_products(text, 128) or count_products(text, 256)
    assert "st.global.v4.b16" in text and "ld.shared.v4.f32" in text
    assert "st.global.b16" not in text


def test_results_of_another_type(tools, tmp_path):
    def function(a, b):
        return lax.dot(a, b, preferred_element_type=jnp.float32)

    check(tools, tmp_path, function, draw("bf16", 128, 128), draw("bf16", 128, 128))


@pytest.mark.parametrize("left,right", [(1, 0), (0, 1)])
def test_few_tiles_of_a_long_depth(tools, tmp_path, left, right):
    """Parts of the depth, by a workgroup each; the last one is shorter."""
    arrays = place(draw("bf16", 72, 1000), draw("bf16", 1000, 80), left, right)

    def function(a, b):
        return jnp.maximum(multiply(left, right)(a, b), 0) + 1

    check(tools, tmp_path, function, *arrays)
    assert read_text(tools, tmp_path, function, *arrays).count(".entry") == 2


def test_one_after_the_other(tools, tmp_path):
    """Two products of one program, of which the second needs the first."""

    def function(x, w):
        return multiply(0, 0)(jnp.tanh(x @ w), x)

    arrays = [draw("bf16", 128, 96), draw("bf16", 96, 104)]
    text = read_text(tools, tmp_path, function, *arrays)
    assert count_products(text) == 8
    interpreted.check(tools, function, *arrays, target=TARGET)


def test_what_other_products_are(tools, tmp_path):
    """Small ones, lines that begin anywhere, f32."""
    function = multiply(1, 0)
    for kind, shapes in [
        ("bf16", [(63, 512), (512, 128)]),
        ("bf16", [(128, 64), (64, 64)]),
        ("bf16", [(128, 129), (129, 128)]),
        ("f32", [(128, 128), (128, 128)]),
    ]:
        arrays = [draw(kind, *shape) for shape in shapes]
        text = read_text(tools, tmp_path, function, *arrays)
        assert "wgmma" not in text and "mbarrier" not in text
        interpreted.check(tools, function, *arrays, target=TARGET)


def test_in_a_loop(tools, tmp_path):
    def function(x, w):
        return lax.fori_loop(0, 3, lambda i, y: jnp.tanh(y @ w) / 9, x)

    check(tools, tmp_path, function, draw("bf16", 128, 128), draw("bf16", 128, 128))


@pytest.mark.parametrize("chip,variant", [(80, "sm_80"), (90, "sm_90a"), (100, "sm_80")])
def test_one_file_for_several_chips(tools, chip, variant):
    """Each takes the program that is for it."""
    compiler, runtime = tools
    arrays = [draw("bf16", 128, 128), draw("bf16", 128, 128)]
    program = jax.jit(multiply(1, 0)).lower(*arrays).as_text().encode()
    artifact = compiler.compile(program, ["cuda:sm_80", TARGET])
    configure = ctypes.CDLL(str(fake_gpu.LIBRARY)).fakeCudaConfigure
    configure(chip, 2, 12040)
    try:
        executable = alula_library.Runtime(fake_gpu.BUILD, device="cuda").load(artifact)
        name = runtime.library.alula_executable_get_variant
        name.restype = ctypes.c_char_p
        assert name(ctypes.c_void_p(executable.handle)).decode() == f"cuda:{variant}"
        executable.destroy()
    finally:
        configure(90, 2, 12040)


@pytest.mark.skipif(not PTXAS, reason="no ptxas")
@pytest.mark.parametrize("kind,shapes", [("bf16", (4096, 4096)), ("f16", (1024, 1024))])
@pytest.mark.parametrize("left,right", LAYOUTS)
def test_ptxas(tools, tmp_path, kind, shapes, left, right):
    """Nothing is spilled, and products are not made to wait for each other."""
    a, b = (jax.ShapeDtypeStruct(shapes, TYPES[kind]) for _ in range(2))
    text = read_text(tools, tmp_path, multiply(left, right), a, b)
    assert ".version 8.0" in text and "wgmma" in text
    path = tmp_path / "product.ptx"
    path.write_text(text)
    done = subprocess.run(
        [PTXAS, "-v", "-arch=sm_90a", path, "-o", tmp_path / "product.cubin"],
        capture_output=True,
        text=True,
        check=True,
    )
    said = done.stderr + done.stdout
    assert "0 bytes spill stores, 0 bytes spill loads" in said
    assert "wgmma" not in said and "serialized" not in said


# What is missing or another in the PTX, and what finds it: "" is other numbers.
WAIT = r"mbarrier\.try_wait\.parity\.shared::cta\.b64 p, (\[%r\d+\]), (%r\d+);"
ORDER = "without a barrier|not been waited for|being read|more arrivals|not all reach"
KNOWN = ORDER + "|mbarrier.init"
COPY = r"cp\.async\.cg\.shared\.global \[%r\d+\], \[%rd\d+\], 16, %r\d+;"
MISTAKES = {
    "no wait for a stage to be free": (WAIT, "setp.eq.u32 p, 0, 0;", 0, ORDER),
    "no wait for a stage to be full": (WAIT, "setp.eq.u32 p, 0, 0;", 1, ORDER),
    "the other phase of what is free": (
        WAIT,
        r"mbarrier.try_wait.parity.shared.b64 p,\1,0;",
        0,
        ORDER,
    ),
    "the other phase of what is full": (
        WAIT,
        r"mbarrier.try_wait.parity.shared.b64 p,\1,1;",
        1,
        ORDER,
    ),
    "a phase that does not change": (
        r"xor\.b32  (\s*)(%r\d+), (%r\d+), ",
        r"or.b32 \1\2, \3, ",
        1,
        ORDER,
    ),
    "no wait for copies": (r"cp\.async\.wait_group 2;", "", 0, ORDER),
    "a shorter wait for copies": (r"cp\.async\.wait_group 2;", "cp.async.wait_group 3;", 0, ORDER),
    "no wait for the last copies": (r"cp\.async\.wait_group 0;", "", 0, ORDER),
    "copies of no group": (r"cp\.async\.commit_group;", "", 0, ORDER),
    "no fence of what was copied": (r"fence\.proxy\.async\S*", "", 0, "is not fenced"),
    "no fence of the last copies": (r"fence\.proxy\.async\S*", "", 2, "is not fenced"),
    "no wait for the last products": (r"wgmma\.wait_group\S* 0;", "", 0, ORDER),
    "a wait for one product less": (r"(wgmma\.wait_group\S*) 1;", r"\1 2;", 0, ORDER),
    "no fence of registers": (r"wgmma\.fence\S*", "", 0, "no wgmma.fence"),
    "products that are not committed": (r"wgmma\.commit_group\S*", "", 0, ORDER),
    "no barrier of those who multiply": (r"bar\.sync 1, \d+;", "", 0, ORDER),
    "barriers that not all know": (r"bar\.sync\s+0;", "", 1, KNOWN),
    "sums that others still write": (r"bar\.sync\s+0;", "", 2, KNOWN),
    "a stage that one warp less frees": (r"(mbarrier\.init\S* \S+) %r\d+;", r"\1 7;", 1, ORDER),
    "a stage that a thread less fills": (r"(mbarrier\.init\S* \S+) %r\d+;", r"\1 127;", 0, ORDER),
    "another swizzle": ("4611686293305360384", "9223372311732748288", 0, ""),
    "rows that are copied to other places": (r"xor\.b32", "or.b32 ", 0, ORDER),
    "a piece that is not copied": (COPY, "", 3, ""),
    "the other side transposed": (r"p, 1, 1, 0, 1;", "p, 1, 1, 0, 0;", 0, ""),
    "this side transposed": (r"p, 1, 1, 0, 1;", "p, 1, 1, 1, 1;", 1, ORDER),
    "a difference": (r"p, 1, 1, 0, 1;", "p, 1,-1, 0, 1;", 2, ""),
}


@pytest.fixture(scope="module")
def product(tools):
    """One stage more than the ring has."""
    arrays = [draw("bf16", 128, 448), draw("bf16", 448, 128)]
    program = jax.jit(multiply(1, 0)).lower(*arrays).as_text().encode()
    return tools[0].compile(program, [TARGET]), arrays


@pytest.mark.parametrize("mistake", MISTAKES)
def test_seeded_mistakes(product, tmp_path, mistake):
    """Each of them ends the kernel, and with it its process, or gives other numbers."""
    artifact, arrays = product
    *edit, found = MISTAKES[mistake]
    changed = changed_ptx.change(artifact, changed_ptx.replace(*edit))
    got, said = changed_ptx.run(tmp_path, "bf16", changed, arrays)
    if got is None:
        assert found and re.search(found, said), said
        return
    want = arrays[0].astype(np.float64) @ arrays[1].astype(np.float64)
    wrong = got.view(TYPES["bf16"]).reshape(want.shape).astype(np.float64)
    assert not np.abs(wrong - want).max() <= np.abs(want).max() / 32
