"""Transposes by tiles in the workgroup's memory (compiler/kernel/transposed_tiles.cpp), interpreted:
permutations of all kinds and what is fused with them, to NumPy; which accesses they have."""

import re

import changed_ptx
import fake_gpu
import interpreted
import pytest
from interpreted import TARGET, read_text, run

import jax
import ml_dtypes
import numpy as np

pytestmark = fake_gpu.needs_build
tools = interpreted.tools

BF16 = ml_dtypes.bfloat16
# More than 108 tiles of 64 x 64, and more than 27 of 32 x 32.
LARGE, SMALL = (704, 704), (224, 160)


def draw(kind, *shape):
    numbers = np.random.default_rng(sum(shape)).integers(-100, 100, size=shape)
    return numbers.astype(kind)


def check(tools, folder, function, *arrays):
    """Runs a function; its PTX."""
    want = np.asarray(function(*arrays))
    [got] = run(tools, function, *arrays)
    np.testing.assert_array_equal(got, want)
    return read_text(tools, folder, function, *arrays)


def is_tiled(text):
    return "ld.shared" in text


def count(text, access):
    """Accesses of 16 bytes, and all others."""
    wide = len(re.findall(rf"{access}\.global(?:\.nc)?\.(?:v4\.[bfu]32|v2\.[bfu]64)", text))
    return wide, len(re.findall(rf"{access}\.global", text)) - wide


@pytest.mark.parametrize("kind", [np.float32, BF16, np.int8, np.float64])
@pytest.mark.parametrize("shape", [LARGE, SMALL])
def test_matrices(tools, tmp_path, kind, shape):
    with jax.enable_x64(True):
        text = check(tools, tmp_path, lambda x: x.T + x.dtype.type(1), draw(kind, *shape))
    assert is_tiled(text) and ".local" not in text
    assert count(text, "ld")[0] > 0 and count(text, "ld")[1] == 0
    if kind == np.int8:  # The code generator has no wider stores of bytes.
        return check_words(text)
    assert count(text, "st")[0] > 0 and count(text, "st")[1] == 0


def check_words(text):
    assert "st.global.u32" in text and "st.global.u8" not in text


@pytest.mark.parametrize("kind", [np.float32, BF16])
@pytest.mark.parametrize("shape", [(421, 355), (704, 355), (421, 704), (700, 354)])
def test_edges(tools, tmp_path, kind, shape):
    """What is a multiple of what an access has is still one."""
    text = check(tools, tmp_path, lambda x: x.T, draw(kind, *shape))
    assert is_tiled(text)
    each = 16 // np.dtype(kind).itemsize
    for access, size in [("ld", shape[1]), ("st", shape[0])]:
        assert (count(text, access)[0] > 0) == (size % each == 0)


@pytest.mark.parametrize(
    "permutation",
    [(0, 1, 3, 2), (0, 2, 3, 1), (3, 2, 1, 0), (0, 3, 1, 2), (1, 3, 0, 2), (2, 3, 0, 1)],
)
def test_permutations(tools, tmp_path, permutation):
    """All that move the last dimension."""
    x = draw(BF16, 17, 24, 32, 20)
    assert is_tiled(check(tools, tmp_path, lambda x: x.transpose(permutation), x))


@pytest.mark.parametrize("permutation", [(0, 2, 1, 3), (2, 1, 0, 3)])
def test_the_last_dimension_stays(tools, tmp_path, permutation):
    text = check(tools, tmp_path, lambda x: x.transpose(permutation) * 2, draw("f4", 4, 64, 32, 64))
    assert not is_tiled(text)


def test_what_is_fused(tools, tmp_path):
    """Operands that lie along the result, across, and in another batch."""
    x, y, z = draw("f4", 3, 384, 256), draw("f4", 3, 256, 384), draw("f4", 256)

    def function(x, y, z):
        x = x.transpose(0, 2, 1)
        return x * y + (x[::-1] - z[:, None])

    text = check(tools, tmp_path, function, x, y, z)
    assert text.count(".entry ") == 1 and is_tiled(text)
    assert count(text, "st")[1] == 0


def test_two_types(tools, tmp_path):
    """Arrays of different widths lie in one tile behind each other."""
    x, y = draw(BF16, *LARGE), draw("f4", *LARGE)
    text = check(tools, tmp_path, lambda x, y: x.T.astype("f4") + y.T, x, y)
    assert is_tiled(text) and count(text, "st")[1] == 0


def test_heads(tools, tmp_path):
    """A reshape before, as keys of attention have it."""
    x = draw(BF16, 2, 512, 8 * 64)

    def function(x):
        return x.reshape(2, 512, 8, 64).transpose(0, 2, 3, 1) * BF16(2)

    text = check(tools, tmp_path, function, x)
    assert is_tiled(text) and count(text, "ld")[1] == 0 and count(text, "st")[1] == 0


def test_slices(tools, tmp_path):
    """What begins anywhere is loaded one by one, still along its own order."""
    x = draw("f4", 390, 515)
    text = check(tools, tmp_path, lambda x: x[:, 3:].T + 1, x)
    assert is_tiled(text) and count(text, "ld")[0] == 0


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[:64, :64].T + 1,
        lambda x: x[:, :3].T * 2,
        lambda x: np.float32(3) * x[:, :1].T,
        lambda x: x + x[:, 0],
    ],
    ids=["few", "three lines", "one line", "no transpose"],
)
def test_what_stays_as_it_was(tools, tmp_path, function):
    assert not is_tiled(check(tools, tmp_path, function, draw("f4", *LARGE)))


MISTAKES = {
    "a barrier less": (r"bar\.sync\s+0;", "", 1),
    "another place": (
        r"ld\.shared\.f32\s+(%f\d+), \[(%rd\d+)\+260\]",
        r"ld.shared.f32 \1,[\2+256]",
        0,
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_seeded_mistakes(tools, tmp_path, mistake):
    x = draw("f4", *LARGE)

    def function(x):
        return x.T + 1

    artifact = tools[0].compile(jax.jit(function).lower(x).as_text().encode(), [TARGET])
    edit = changed_ptx.replace(*MISTAKES[mistake])
    got, said = changed_ptx.run(tmp_path, "f32", changed_ptx.change(artifact, edit), [x])
    if got is None:
        assert "without a barrier" in said, said
    else:
        assert (got.view(np.float32).reshape(x.T.shape) != function(x)).any()
