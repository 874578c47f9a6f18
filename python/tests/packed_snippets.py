"""Elements of 2 and 4 bits through JAX: packed on the device, not on the host.
test_snippets.py runs this file."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

KINDS = ["int4", "uint4", "int2", "uint2", "float4_e2m1fn"]


def draw(kind, shape, seed=0):
    dtype = np.dtype(getattr(ml_dtypes, kind))
    bits = int("".join(c for c in kind.split("_")[0] if c.isdigit()))
    codes = np.random.default_rng(seed).integers(0, 1 << bits, shape).astype(np.uint8)
    if kind.startswith("int"):
        sign = np.uint8(1 << (bits - 1))
        codes = ((codes ^ sign).astype(np.int16) - sign).astype(np.uint8)
    return np.ravel(codes).view(dtype).reshape(shape)


def same(a, b):
    a, b = np.asarray(a), np.asarray(b)
    assert a.dtype == b.dtype and a.shape == b.shape, (a.dtype, b.dtype, a.shape, b.shape)
    np.testing.assert_array_equal(a.astype(np.float32), b.astype(np.float32))


def test_arrays_come_back():
    for kind in KINDS:
        for shape in [(), (1,), (7,), (3, 5), (64, 129)]:
            x = draw(kind, shape)
            same(jax.device_put(x), x)
            same(jax.jit(lambda v: v)(x), x)


def test_strides_of_the_host():
    x = draw("int4", (9, 14))
    for view in (x.T, x[::2, 1::3], x[:, ::-1]):
        same(jax.device_put(view), view)


def test_computing():
    x, y = draw("int4", (33, 7), 1), draw("int4", (33, 7), 2)
    total = jax.jit(lambda a, b: (a.astype(jnp.int32) + b.astype(jnp.int32), a.T, a.reshape(-1)))
    got = total(x, y)
    np.testing.assert_array_equal(got[0], x.astype(np.int32) + y.astype(np.int32))
    same(got[1], x.T)
    same(got[2], x.reshape(-1))


def test_weights():
    w = draw("int4", (128, 96), 3)
    x = np.random.default_rng(4).standard_normal((5, 128)).astype(np.float32)
    got = jax.jit(lambda a, b: a @ b.astype(jnp.float32))(x, w)
    np.testing.assert_allclose(got, x @ w.astype(np.float32), rtol=1e-4, atol=1e-4)


def test_half_a_byte_on_the_device():
    w = jax.device_put(draw("int4", (128, 96), 3))
    compiled = jax.jit(lambda a: a).lower(w).compile()
    assert compiled.memory_analysis().argument_size_in_bytes == 128 * 96 // 2


def test_callbacks():
    def double(a):
        return (np.asarray(a).astype(np.int8) // 2).astype(ml_dtypes.int4)

    x = draw("int4", (5, 3), 5)
    shape = jax.ShapeDtypeStruct((5, 3), jnp.int4)
    got = jax.jit(lambda a: jax.pure_callback(double, shape, a))(x)
    same(got, double(x))


def test_donation():
    x = draw("int4", (31,), 6)
    step = jax.jit(lambda a, i: a.at[i].set(3), donate_argnums=0)
    v = jax.device_put(x)
    wanted = x.copy()
    for i in (0, 17, 30):
        v = step(v, i)
        wanted[i] = 3
    same(v, wanted)


def test_collectives():
    mesh = jax.make_mesh((2,), ("a",), axis_types=(jax.sharding.AxisType.Auto,))
    x = draw("int4", (6, 3), 7)

    def body(v):
        return jax.lax.all_gather(v, "a", tiled=True), jax.lax.ppermute(v, "a", [(0, 1), (1, 0)])

    spec = jax.sharding.PartitionSpec
    over = jax.shard_map(
        body, mesh=mesh, in_specs=spec("a"), out_specs=(spec(), spec("a")), check_vma=False
    )
    whole, turned = jax.jit(over)(x)
    same(whole, x)
    same(turned, np.concatenate([x[3:], x[:3]]))
