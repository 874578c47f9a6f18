"""Constant weights of few bits, which lie as products read them: random sizes, layouts
and scales on three machines, with activations as they are and rounded to bytes, against
NumPy; constants with several readers; how many bytes they take."""

import random
import subprocess
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import jax_functions
import ml_dtypes
import numpy as np
import pytest

pytestmark = jax_functions.needs_build
tools = jax_functions.tools

KINDS = {"i4": ml_dtypes.int4, "ui4": ml_dtypes.uint4, "i8": np.int8, "ui8": np.uint8}
ROUNDS = "--accuracy=i8-activations"
TARGETS = ["cpu:host", "cpu:x86-64-v3", "cpu:x86-64-v2"]


def draw(kind, shape, seed):
    info = ml_dtypes.iinfo(KINDS[kind])
    draws = np.random.default_rng(seed).integers(int(info.min), int(info.max) + 1, shape)
    return draws.astype(KINDS[kind])


def normal(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


class Weights:
    """Columns of `k` terms, `transposed` or not, with scales of a form."""

    def __init__(self, kind, k, n, form, group, transposed, seed=2):
        self.shape = (n, k) if transposed else (k, n)
        self.transposed, self.codes = transposed, draw(kind, self.shape, seed)
        # Blocks are a dimension of their own in what is scaled.
        self.tiles, self.scales = self.shape, None
        if form == "blocks":
            self.tiles = (n, k // group, group) if transposed else (k // group, group, n)
            self.scales = (n, k // group, 1) if transposed else (k // group, 1, n)
        elif form == "columns":
            self.scales = (n, 1) if transposed else (1, n)
        elif form == "rows":
            self.scales = (1, k) if transposed else (k, 1)
        elif form == "one":
            self.scales = (1, 1)
        if self.scales:
            draws = np.random.default_rng(seed + 1)
            self.scales = draws.uniform(0.5, 2, self.scales).astype(np.float32)

    def widen(self, codes, scales=None, np=np):
        wide = codes.astype(np.float32)
        if self.scales is not None:
            wide = (wide.reshape(self.tiles) * (self.scales if scales is None else scales)).reshape(
                self.shape
            )
        return wide.T if self.transposed else wide

    def matrix(self):
        return self.widen(self.codes)


def compile_text(text, *options):
    with tempfile.TemporaryDirectory() as folder:
        program, output = Path(folder) / "p.mlir", Path(folder) / "p"
        program.write_text(text)
        command = [jax_functions.BUILD / "bin" / "alula-compile", program, "-o", output, *options]
        subprocess.run(command, check=True, capture_output=True)
        return output.read_bytes()


def compile_and_run(tools, function, x, target, *options):
    text = jax.jit(function).lower(x).as_text()
    _, runtime = tools
    artifact = compile_text(text, f"--target={target}", *options)
    executable = runtime.load(artifact)
    argument = runtime.new_buffer(x, "f32")
    (result,) = executable.call(executable.find("main"), [argument])
    got = result.array().copy()
    for buffer in (argument, result):
        buffer.release()
    executable.destroy()
    return got, artifact


def check_sums(got, x, right):
    x, right = x.astype(np.float64), right.astype(np.float64)
    limit = (x.shape[1] + 4) * 2.0**-23 * (np.abs(x) @ np.abs(right))
    assert (np.abs(got - x @ right) <= limit).all(), np.abs(got - x @ right).max()


def make_cases(count):
    draws = random.Random(5)
    for i in range(count):
        form = draws.choice(["blocks", "blocks", "columns", "rows", "one", None])
        group = draws.choice([8, 12, 32, 64, 128])
        k = group * draws.randint(1, 9) if form == "blocks" else draws.randint(40, 700)
        n = max(draws.choice([8, 33, 64, 100, 257, 600]), 4096 // k + 1)
        kind = draws.choice(list(KINDS))
        yield kind, draws.choice([1, 1, 2, 5, 40]), k, n, form, group, draws.random() < 0.5, i


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", make_cases(14), ids=lambda case: "-".join(map(str, case)))
def test_random_products(tools, target, case):
    kind, m, k, n, form, group, transposed, seed = case
    weights, x = Weights(kind, k, n, form, group, transposed, seed), normal(m, k)
    got, _ = compile_and_run(
        tools, lambda x: x @ weights.widen(jnp.asarray(weights.codes), np=jnp), x, target
    )
    check_sums(got, x, weights.matrix())


def widen_with_zeros(codes, zeros, scales, tiles, np=np):
    """As AWQ's and GPTQ's layers and onnx's MatMulNBits are: a zero point for each scale."""
    wide = codes.astype(np.float32).reshape(tiles)
    return ((wide - zeros.astype(np.float32)) * scales).reshape(codes.shape)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind,of_zeros", [("ui4", "ui4"), ("i4", "i8"), ("ui8", "ui8"), ("i8", "f32"), ("ui4", "halves")])  # fmt: skip
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("m,k,n,group,options", [(1, 608, 100, 32, []), (3, 520, 33, 40, []), (40, 1088, 70, 64, []), (1, 608, 100, 32, [ROUNDS]), (40, 1088, 70, 64, [ROUNDS])])  # fmt: skip
def test_zero_points(tools, target, kind, of_zeros, transposed, m, k, n, group, options):
    weights, x = Weights(kind, k, n, "blocks", group, transposed), normal(m, k)
    if of_zeros == "f32":
        zeros = np.random.default_rng(5).integers(-9, 9, weights.scales.shape).astype(np.float32)
    elif of_zeros == "halves":
        zeros = np.random.default_rng(5).integers(0, 30, weights.scales.shape) / np.float32(2)
    else:
        zeros = draw(of_zeros, weights.scales.shape, 5)

    def widen(np):
        codes, zero = (np.asarray(one) for one in (weights.codes, zeros))
        return widen_with_zeros(codes, zero, weights.scales, weights.tiles, np)

    def function(x):
        right = widen(jnp)
        return x @ (right.T if transposed else right)

    got, _ = compile_and_run(tools, function, x, target, *options)
    right = widen(np).T if transposed else widen(np)
    try:
        check_sums(got, rounded(x) if options else x, right)
    except AssertionError:
        # Bytes gain nothing.
        assert options and (m > 3 or target != "cpu:host")
        check_sums(got, x, right)


def test_zero_points_lie_in_panels(tools):
    """Several products that share zero points, of which others read some."""
    weights, x = Weights("ui4", 512, 96, "blocks", 32, True), normal(1, 512)
    other = Weights("ui4", 512, 96, "blocks", 32, True, seed=9)
    zeros = draw("ui4", weights.scales.shape, 5)

    def function(x):
        shared = jnp.asarray(zeros)
        parts = [
            x @ widen_with_zeros(jnp.asarray(one.codes), shared, one.scales, one.tiles, jnp).T
            for one in (weights, other)
        ]
        return parts[0] + parts[1] + jnp.sum(shared.astype(jnp.float32))

    text = jax.jit(function).lower(x).as_text()
    dumped = compile_text(text, "--target=cpu:host", "--compile-to=kernel").decode()
    assert "alula_panel_product_ui4" in dumped
    got, _ = compile_and_run(tools, function, x, "cpu:host")
    right = [
        widen_with_zeros(one.codes, zeros, one.scales, one.tiles).T.astype(np.float64)
        for one in (weights, other)
    ]
    expected = x.astype(np.float64) @ (right[0] + right[1]) + zeros.astype(np.float64).sum()
    limit = np.abs(x).astype(np.float64) @ sum(map(np.abs, right)) + zeros.size * 16
    assert (np.abs(got - expected) <= 516 * 2.0**-23 * limit).all()


def rounded(x):
    """Each 32 neighbours in bytes, times their scale."""
    padded = np.pad(x, [(0, 0), (0, -x.shape[1] % 32)]).reshape(len(x), -1, 32)
    most = np.abs(padded).max(2, keepdims=True)
    by = np.divide(np.float32(127), most, out=np.zeros_like(most), where=most > 0)
    wide = np.rint(padded * by) * (most / np.float32(127)).astype(np.float64)
    return wide.reshape(len(x), -1)[:, : x.shape[1]]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind,transposed", [("i4", False), ("ui4", True), ("i8", True), ("ui8", False)])  # fmt: skip
@pytest.mark.parametrize("m,k,n,form,group", [(1, 608, 100, "blocks", 32), (3, 333, 64, "columns", 0), (37, 1088, 70, "blocks", 64)])  # fmt: skip
def test_rounded_activations(tools, target, kind, transposed, m, k, n, form, group):
    """One of two sums: of bytes, or as the program says, where bytes gain nothing."""
    weights, x = Weights(kind, k, n, form, group, transposed), normal(m, k)
    got, _ = compile_and_run(
        tools,
        lambda x: x @ weights.widen(jnp.asarray(weights.codes), np=jnp),
        x,
        target,
        ROUNDS,
    )
    try:
        check_sums(got, rounded(x), weights.matrix())
    except AssertionError:
        assert target != "cpu:host" and m > 3
        check_sums(got, x, weights.matrix())


def test_matrix_times_vector(tools):
    weights, x = Weights("i4", 512, 96, "blocks", 32, True), normal(512)
    got, _ = compile_and_run(
        tools,
        lambda x: weights.widen(jnp.asarray(weights.codes), np=jnp).T @ x,
        x,
        "cpu:host",
    )
    check_sums(got[None], x[None], weights.matrix())


@pytest.mark.parametrize("target", ["cpu:host", "cpu:x86-64-v2"])
def test_several_readers(tools, target):
    """Weights that two products read alike, one of which has scales of another weight;
    weights that two products read in different ways; that a sum reads too."""
    one, other = Weights("i4", 128, 128, "blocks", 32, False), normal(2, 128)
    twice = Weights("i8", 128, 128, "columns", 0, False, seed=7)
    third = Weights("ui4", 128, 128, "blocks", 32, False, seed=9)

    def function(x):
        q, p, r = (jnp.asarray(w.codes) for w in (one, twice, third))
        first = x @ one.widen(q, np=jnp) + other @ one.widen(q, np=jnp)
        second = x @ twice.widen(p, np=jnp) + x @ p.astype(jnp.float32).T
        sums = jnp.sum(r.astype(jnp.float32), 0)
        # The scales of `one`, for which the third's layout is the same.
        last = x @ third.widen(r, one.scales, np=jnp) + sums
        return first + second + last

    x = normal(2, 128)
    got, _ = compile_and_run(tools, function, x, target)
    wide = twice.codes.astype(np.float64).T
    parts = [
        (x, one.matrix()), (other, one.matrix()), (x, twice.matrix()), (x, wide),
        (x, third.widen(third.codes, one.scales)),
        (np.ones((2, 128)), third.codes.astype(np.float64)),
    ]  # fmt: skip
    expected = sum(a.astype(np.float64) @ b.astype(np.float64) for a, b in parts)
    limit = sum(np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64) for a, b in parts)
    assert (np.abs(got - expected) <= 132 * 2.0**-23 * limit).all()


@pytest.mark.parametrize("kind,m", [("i4", 1), ("i8", 40)])
def test_they_lie_in_panels(tools, kind, m):
    """The kernels call what reads panels, and the artifact has what bits take."""
    weights, x = Weights(kind, 1024, 512, "blocks", 32, True), normal(m, 1024)

    def function(x):
        return x @ weights.widen(jnp.asarray(weights.codes), np=jnp)

    text = jax.jit(function).lower(x).as_text()
    got, artifact = compile_and_run(tools, function, x, "cpu:host", ROUNDS)
    check_sums(got, rounded(x), weights.matrix())
    bits = int(kind[-1])
    bytes_of_weights = weights.codes.size * bits // 8 + weights.scales.nbytes
    assert len(artifact) <= 1.1 * bytes_of_weights + (1 << 16)
    dumped = compile_text(text, "--target=cpu:host", ROUNDS, "--compile-to=kernel").decode()
    assert f"alula_panel_{'rounded' if m == 1 else 'block'}_{kind}" in dumped


def test_constants_outside(tmp_path):
    """As their products read them they give the same bits, as the program has them other sums."""
    weights, x = Weights("i4", 1024, 512, "blocks", 32, True), normal(1, 1024)
    program = tmp_path / "p.mlir"
    program.write_text(
        jax.jit(lambda x: x @ weights.widen(jnp.asarray(weights.codes), np=jnp)).lower(x).as_text()
    )
    np.save(tmp_path / "x.npy", x)
    results = []
    for name, flags in {"inside": [], "outside": [], "used": ["--externalize-as-used"]}.items():
        if name != "inside":
            flags = [
                f"--externalize-constants={name}.safetensors",
                "--externalize-min-bytes=64",
                *flags,
            ]
        artifact, result = tmp_path / f"{name}.alula", tmp_path / f"{name}.npy"
        for command in (
            ["alula-compile", program, "-o", artifact, "--target=cpu:host", *flags],
            ["alula-run", artifact, f"--input=@{tmp_path / 'x.npy'}", f"--output={result}"],
        ):
            tool = jax_functions.BUILD / "bin" / command[0]
            subprocess.run([tool, *command[1:]], check=True, capture_output=True, cwd=tmp_path)
        assert name == "inside" or artifact.stat().st_size < weights.codes.size // 8
        results.append(np.load(result))
        check_sums(results[-1], x, weights.matrix())
    np.testing.assert_array_equal(results[0], results[2])
