"""Plain functions and exported ones as programs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import alula

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def scale(x, by=2.0):
    """Scales."""
    return {"y": x * by}


def test_compile():
    f = alula.compile(scale, jax.ShapeDtypeStruct((2, 3), jnp.float32), np.float32(0))
    assert f.__name__ == "scale" and f.__doc__ == "Scales."
    assert (f(X, 3.0)["y"] == X * 3).all() and (f(x=X, by=3.0)["y"] == X * 3).all()
    assert "module @scale" in str(f.module) and repr(f) == "<compiled function scale>"
    with pytest.raises(TypeError, match=r"scale\(\) argument 'x': expected float32\[2,3\]"):
        f(X[:1], 3.0)


def test_compile_jitted_and_static():
    f = alula.compile(jax.jit(scale), X, 4.0, static_argnums=1)
    assert (f(X)["y"] == X * 4).all()
    g = alula.compile(lambda *args: sum(args), X, X)
    assert (g(X, X) == 2 * X).all()
    with pytest.raises(TypeError, match="takes 2 arguments: 3 types are given"):
        alula.compile(scale, X, X, X)
    with pytest.raises(TypeError, match="takes 1 arguments: 0 types are given"):
        alula.compile(scale)
    with pytest.raises(TypeError, match="takes a function or a jax.export.Exported"):
        alula.compile(3)


def test_export(tmp_path):
    path = alula.export(scale, X).save(tmp_path / "f.alula")
    loaded = alula.load(path)
    assert (loaded.scale(X)["y"] == X * 2).all() and loaded.scale.__doc__ == "Scales."
    again = alula.load(alula.compile(scale, X).save(tmp_path / "g.alula"))
    assert (again.scale(X)["y"] == X * 2).all()


def test_several_functions_share_weights():
    weights = np.random.RandomState(0).rand(3, 200).astype(np.float32)
    artifact = alula.export_functions(
        {
            "encode": (lambda x: x @ weights, X),
            "decode": (lambda x: x @ weights.T, np.zeros((2, 200))),
        },
        name="coder",
    )
    loaded = artifact.load()
    assert loaded.name == "coder" and bytes(artifact).count(weights.tobytes()[:64]) == 1
    np.testing.assert_allclose(loaded.encode(X), X @ weights, rtol=1e-5)
    y = np.ones((2, 200), np.float32)
    np.testing.assert_allclose(loaded.decode(y), y @ weights.T, rtol=1e-5)


@pytest.mark.parametrize("platforms", [("cpu",), ("cpu", "cuda")])
def test_exported(platforms):
    n = jax.export.symbolic_shape("n,3")
    specs = jax.ShapeDtypeStruct(n, jnp.float32), jax.ShapeDtypeStruct((5,), jnp.float32)
    exported = jax.export.export(
        jax.jit(lambda a, unused: (jnp.sin(a), a.shape[0])), platforms=platforms
    )(*specs)
    f = alula.compile(exported, name="wave")
    for rows in (1, 4):
        x = np.random.RandomState(rows).rand(rows, 3).astype(np.float32)
        y, count = f(x, np.zeros(5, np.float32))
        np.testing.assert_allclose(y, np.sin(x), rtol=1e-6)
        assert count == rows
    made = alula.from_exported(exported)
    assert made().main(x, np.zeros(5, np.float32))[1] == 4


def test_serialized_export():
    pytest.importorskip("flatbuffers")
    exported = jax.export.export(jax.jit(lambda a: a + 1), platforms=("cpu",))(X)
    assert (alula.compile(exported.serialize())(X) == X + 1).all()


def test_exported_for_several_devices():
    class Many(jax.export.Exported):
        pass

    exported = jax.export.export(jax.jit(lambda a: a + 1), platforms=("cpu",))(X)
    import dataclasses

    with pytest.raises(ValueError, match="exported for 4 devices; there is one"):
        alula.compile(dataclasses.replace(exported, nr_devices=4))


def test_linear_algebra():
    a = np.random.RandomState(0).rand(6, 6).astype(np.float32)
    f = alula.compile(lambda a: (jnp.linalg.inv(a), jnp.linalg.cholesky(a @ a.T)), a)
    ours, theirs = f(a), (np.linalg.inv(a), np.linalg.cholesky(a @ a.T))
    for x, y in zip(ours, theirs):
        np.testing.assert_allclose(x, y, rtol=2e-3, atol=1e-3)
