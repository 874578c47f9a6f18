"""Attention in one launch (compiler/target/cuda/kernel/lower_attention.cpp), interpreted:
as users write it, masks, lengths of all kinds, to what the same is in f64."""

import changed_ptx
import fake_gpu
import interpreted
import jax
import numpy as np
import pytest
from interpreted import TYPES, check, draw, read_text, run
from jax import numpy as jnp
from support.attention_inputs import WAYS, split

pytestmark = fake_gpu.needs_build
tools = interpreted.tools


def heads(kind, rows, keys, head=64, batch=2, count=2, kv=None):
    """Queries, keys, values: [batch, length, heads, numbers]."""
    q = draw(kind, batch, rows, count, head)
    k, v = draw(kind, 2, batch, keys, kv or count, head)
    return [q, k, v]


def attend(q, k, v, change=lambda s: s, to="bqhd"):
    """By hand, with the batch behind the heads or not."""
    s = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.promote_types(q, "f4"))
    p = jax.nn.softmax(change(s / np.sqrt(q.shape[-1])), axis=-1).astype(v.dtype)
    return jnp.einsum(f"bhqk,bkhd->{to}", p, v)


def check_one(tools, folder, function, *arrays):
    """One launch, and right."""
    assert read_text(tools, folder, function, *arrays).count(".entry ") == 1
    check(tools, function, *arrays)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(
    "rows,keys", [(128, 128), (130, 70), (1, 200), (1, 1), (67, 64), (5, 129), (64, 33)]
)
def test_lengths(tools, tmp_path, kind, rows, keys):
    check_one(tools, tmp_path, attend, *heads(kind, rows, keys, head=32))


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("head", [16, 40, 64, 80, 96, 128])
def test_heads(tools, tmp_path, kind, head):
    check_one(tools, tmp_path, attend, *heads(kind, 33, 75, head=head, batch=1, count=2))


def test_other_heads_of_values(tools, tmp_path):
    q, k = draw("bf16", 2, 20, 2, 48), draw("bf16", 2, 70, 2, 48)
    check_one(tools, tmp_path, attend, q, k, draw("bf16", 2, 70, 2, 112))


@pytest.mark.parametrize("kind", ["bf16", "f32"])
@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"scale": 0.5}])
def test_jax_dot_product_attention(tools, tmp_path, kind, options):
    def function(q, k, v):
        return jax.nn.dot_product_attention(q, k, v, **options)

    check_one(tools, tmp_path, function, *heads(kind, 100, 100))


def test_bias_mask_and_lengths_of_jax(tools, tmp_path):
    q, k, v = heads("bf16", 40, 72)
    bias, mask = draw("bf16", 2, 2, 40, 72), draw("f32", 1, 1, 40, 72) > -1
    lengths = np.array([5, 60], np.int32)

    def function(q, k, v, bias):
        return jax.nn.dot_product_attention(
            q, k, v, bias, jnp.asarray(mask), key_value_seq_lengths=jnp.asarray(lengths)
        )

    check_one(tools, tmp_path, function, q, k, v, bias)


@pytest.mark.parametrize("kind", ["bf16", "f32"])
def test_heads_in_groups(tools, tmp_path, kind):
    """Several heads of queries read the same keys, which nobody repeats."""
    arrays = heads(kind, 33, 70, count=6, kv=2)
    check_one(tools, tmp_path, jax.nn.dot_product_attention, *arrays)

    def repeated(q, k, v):
        return attend(q, jnp.repeat(k, 3, 2), jnp.repeat(v, 3, 2))

    check_one(tools, tmp_path, repeated, *arrays)
    # One row of each head: those of a group are the rows.
    check_one(tools, tmp_path, jax.nn.dot_product_attention, *heads(kind, 1, 70, count=6, kv=2))


@pytest.mark.parametrize("kind", TYPES)
def test_matrices(tools, tmp_path, kind):
    """Without batches; keys that lie the other way; the result, too."""
    q, k, v = (draw(kind, size, 32) for size in (70, 90, 90))

    def function(q, k, v):
        return jax.nn.softmax(q @ k.T / 6) @ v

    check_one(tools, tmp_path, function, q, k, v)

    def other(q, k, v):
        return (jax.nn.softmax(q @ k / 6) @ v.T).T * 2

    check_one(tools, tmp_path, other, q, k.T.copy(), v.T.copy())


@pytest.mark.parametrize("to", ["bqhd", "bhqd", "hdbq"])
def test_places_of_results(tools, tmp_path, to):
    arrays = heads("f32", 20, 40, head=32)
    check_one(tools, tmp_path, lambda q, k, v: attend(q, k, v, to=to), *arrays)


def test_heads_in_front(tools, tmp_path):
    """Transposes before and after, and heads that become one row again."""

    def function(q, k, v):
        q, k, v = (x.transpose(0, 2, 1, 3) for x in (q, k, v))
        p = jax.nn.softmax(q @ k.swapaxes(-1, -2) * 0.125)
        out = (p @ v).transpose(0, 2, 1, 3)
        return out.reshape(*out.shape[:2], -1)

    check_one(tools, tmp_path, function, *heads("bf16", 70, 90))


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("way", WAYS)
def test_queries_keys_and_values_in_one_array(tools, tmp_path, kind, way):
    """Slices are places in it, however dimensions are cut before and after."""

    def function(x):
        q, k, v = split(x, way, jnp)
        return attend(q, k, v)

    check_one(tools, tmp_path, function, draw(kind, 2, 70, 288))


def test_slices_that_are_no_whole_part(tools, tmp_path):
    """A copy of keys, the attention."""
    q, k, v = heads("f32", 20, 100, head=32)
    arrays = [q, k, v[:, 7:67].copy()]

    def function(q, k, v):
        return attend(q, k[:, 7:67], v)

    assert count_kernels(tools, tmp_path, function, *arrays) == 2
    check(tools, function, *arrays)


def test_a_layer(tools, tmp_path):
    """The projection of all three, the attention, the projection of its result."""
    mask = np.tril(np.ones((40, 40), bool))

    def function(x, w, o):
        q, k, v = (part.reshape(2, 40, 4, 32) for part in jnp.split(x @ w, 3, -1))
        return x + attend(q, k, v, lambda s: jnp.where(mask, s, -1e9)).reshape(x.shape) @ o

    arrays = [draw("f32", 2, 40, 128), draw("f32", 128, 384) / 12, draw("f32", 128, 128) / 12]
    assert count_kernels(tools, tmp_path, function, *arrays) == 3
    check(tools, function, *arrays)


def test_batches_that_are_one(tools, tmp_path):
    """As other frameworks write it: products of 3 dimensions, masks of 4."""
    q, k, v = (draw("f32", 6, size, 32) for size in (40, 50, 50))
    mask = draw("f32", 2, 1, 40, 50)

    def function(q, k, v, mask):
        s = jnp.einsum("bqd,bkd->bqk", q, k).reshape(2, 3, 40, 50) / 5 + mask
        return jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(s).reshape(6, 40, 50), v)

    check_one(tools, tmp_path, function, q, k, v, mask)


def test_what_is_done_to_scores(tools, tmp_path):
    """Caps, slopes by the distance, windows: all in registers."""
    arrays = heads("f32", 50, 66, head=32)

    def change(s):
        distance = jnp.arange(66) - jnp.arange(50)[:, None]
        slopes = jnp.asarray([0.5, 0.25], s.dtype)[:, None, None]
        s = jnp.tanh(s / 20) * 20 + slopes * distance
        return jnp.where(jnp.abs(distance) < 30, s, -1e9)

    check_one(tools, tmp_path, lambda q, k, v: attend(q, k, v, change), *arrays)


def test_what_follows(tools, tmp_path):
    arrays = heads("bf16", 40, 40)
    gate = draw("bf16", 2, 40, 128)

    def function(q, k, v, gate):
        return attend(q, k, v).reshape(2, 40, 128) * gate + 1

    check_one(tools, tmp_path, function, *arrays, gate)


def find_all(mask, kind="f32", rows=40, keys=150):
    q, k, v = heads(kind, rows, keys, head=32, batch=1, count=1)

    def function(q, k, v):
        return attend(q, k, v, lambda s: jnp.where(jnp.asarray(mask), s, -jnp.inf))

    return function, [q, k, v]


@pytest.mark.parametrize("kind", TYPES)
def test_rows_without_keys(tools, tmp_path, kind):
    """Of -inf alone: not a number, as without a kernel. Blocks of it: nothing."""
    mask = np.tril(np.ones((40, 150), bool), 100)
    mask[:10, :140] = False
    mask[10:12] = False
    mask[12:15, 3:] = False
    function, arrays = find_all(mask, kind)
    assert read_text(tools, tmp_path, function, *arrays).count(".entry ") == 1
    [got] = run(tools, function, *arrays)
    empty = ~mask.any(1)
    assert empty.sum() == 12
    assert np.isnan(got[0, empty].astype(np.float32)).all()
    want = np.asarray(jax.jit(function)(*[a.astype(np.float32) for a in arrays]))
    limit = 4 * max(float(jnp.finfo(arrays[0].dtype).eps), 2**-20)
    np.testing.assert_allclose(
        got[0, ~empty].astype(np.float32), want[0, ~empty], rtol=0, atol=limit * 4
    )


def test_numbers_that_are_none(tools):
    """A NaN or an infinite score is the whole row's, one of a value its column's."""
    q, k, v = heads("f32", 20, 100, head=32, batch=1, count=1)
    q[0, 3, 0, 0], k[0, 70, 0, 5], v[0, 90, 0, 7] = np.nan, 1e30, np.inf
    q[0, :, 0, 5] = np.where(np.arange(20) < 10, -1, 1e30)
    [got] = run(tools, attend, q, k, v)
    want = np.asarray(jax.jit(attend)(q, k, v))
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    assert np.isnan(want).any() and not np.isnan(want).all()
    np.testing.assert_allclose(got[:, :3], want[:, :3], rtol=1e-5, atol=1e-5)


def test_large_scores(tools):
    """Maxima that grow from block to block."""
    q, k, v = heads("f32", 16, 300, head=16, batch=1, count=1)
    k *= np.linspace(0, 40, 300, dtype=np.float32)[:, None, None]
    check(tools, attend, q, k, v)


def count_kernels(tools, folder, function, *arrays):
    return read_text(tools, folder, function, *arrays).count(".entry ")


def test_what_stays_as_it_was(tools, tmp_path):
    """Weights or statistics that others read, sums over something else, small heads."""
    arrays = heads("f32", 70, 80, head=32)

    def weights(q, k, v):
        p = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k))
        return p, jnp.einsum("bhqk,bkhd->bqhd", p, v)

    def over_queries(q, k, v):
        p = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k), axis=2)
        return jnp.einsum("bhqk,bkhd->bqhd", p, v)

    def over_heads(q, k, v):
        p = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k), axis=1)
        return jnp.einsum("bhqk,bkhd->bqhd", p, v)

    def centered(q, k, v):
        return attend(q, k, v, lambda s: s - s.mean(-1, keepdims=True))

    for function in (weights, over_queries, over_heads, centered):
        assert count_kernels(tools, tmp_path, function, *arrays) > 1
    check(tools, over_queries, *arrays)
    check(tools, over_heads, *arrays)
    check(tools, centered, *arrays)
    [p, out] = run(tools, weights, *arrays)
    for got, want in zip([p, out], jax.jit(weights)(*arrays)):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_two_in_a_row(tools, tmp_path):
    """Layers: each is a launch, and what is between."""

    def function(x, w):
        for _ in range(2):
            q, k, v = (x @ w).reshape(2, 40, 3, 2, 32).transpose(2, 0, 1, 3, 4)
            x = x + jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(x.shape)
        return x

    check(tools, function, draw("f32", 2, 40, 64), draw("f32", 64, 192) / 8)


@pytest.mark.parametrize("kind", ["bf16", "f16"])
def test_tensor_cores(tools, tmp_path, kind):
    text = read_text(tools, tmp_path, attend, *heads(kind, 256, 256))
    assert f"mma.sync.aligned.m16n8k16.row.col.f32.{kind}.{kind}.f32" in text
    assert "ldmatrix.sync.aligned.m8n8.x4.trans" in text and "cp.async.cg" in text
    assert ".local" not in text and "ld.global" not in text


# The first barrier of each is for tiles that one workgroup does one after the other.
MISTAKES = {
    "bf16": {
        **{f"barrier {i}": (r"bar\.sync\s+0;", "", i) for i in range(1, 5)},
        **{f"wait {i}": (r"wait_group 0;", "wait_group 1;", i) for i in range(3)},
        "values that are not transposed": (r"(x4)\.trans", r"\1", 0),
        "a shuffle less": (r"shfl\.sync\.bfly\.b32 (%\w+), (%\w+),[^;]*;", r"mov.b32 \1, \2;", 0),
        "pairs the other way": (r"(cvt\.rn\.bf16x2\.f32 %\w+), (%\w+), (%\w+);", r"\1, \3, \2;", 0),
        "a weight that is none": (r"ex2\.approx\.ftz\.f32 (%\w+)", r"mov.f32 \1", 3),
        "a sum that begins anew": (
            r"mma(\.\S+) \{(%\w+),([^}]*\}), (\{[^}]*\}, \{[^}]*\}), \{[^}]*\}",
            r"mma\1 {\2,\3, \4, {\2, \2, \2, \2}",
            -1,
        ),
    },
    "f32": {
        **{f"barrier {i}": (r"bar\.sync\s+0;", "", i) for i in range(1, 4)},
        "a shuffle less": (r"shfl\.sync\.bfly\.b32 (%\w+), (%\w+),[^;]*;", r"mov.b32 \1, \2;", 0),
        "a weight that is none": (r"ex2\.approx\.ftz\.f32 (%\w+)", r"mov.f32 \1", 3),
    },
}


@pytest.mark.parametrize("kind,mistake", [(k, m) for k in MISTAKES for m in MISTAKES[k]])
def test_seeded_mistakes(tools, tmp_path, kind, mistake):
    """Each of them ends the kernel, and with it its process, or gives other numbers."""
    arrays = heads(kind, 150, 150, head=32, batch=1, count=1)
    program = jax.jit(attend).lower(*arrays).as_text().encode()
    artifact = tools[0].compile(program, [interpreted.TARGET])

    [right] = run(tools, attend, *arrays)
    edit = changed_ptx.replace(*MISTAKES[kind][mistake])
    got, said = changed_ptx.run(tmp_path, kind, changed_ptx.change(artifact, edit), arrays)
    if got is None:
        assert "without a barrier" in said or "has not been waited for" in said, said
        return
    wrong = got.view(TYPES[kind]).reshape(right.shape).astype(np.float32)
    limit = 4 * max(float(jnp.finfo(right.dtype).eps), 2**-20)
    right = right.astype(np.float32)
    assert not np.abs(wrong - right).max() <= limit * np.abs(right).max()
