"""Calls for products with lists of elements, at random: sizes, batches, orders,
padding, one size that only the call knows or all of them. Judged by NumPy."""

import jax_functions
import numpy as np
import pytest
from test_packed_types import run, type_of

pytestmark = jax_functions.needs_build
tools = jax_functions.tools

TARGETS = ["cpu:host", "cpu:x86-64-v2"]
TYPES = {"f32": np.float32, "f64": np.float64}


class Case:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        draw = self.random.integers
        self.m, self.k = draw(0, 60, 2)
        self.n = self.random.choice([1, 1, 2, 5, 16, 33, 64, 100])
        self.count = draw(0, 3000) if seed % 3 else draw(0, 8)
        self.batch = tuple(draw(1, 4, self.random.choice([0, 0, 1, 2])))
        self.kind = self.random.choice(list(TYPES))
        self.open = seed % 2
        self.rows = draw(-self.m - 1, self.m + 2, (*self.batch, self.count))
        self.columns = draw(-self.k - 1, self.k + 2, (*self.batch, self.count))
        if seed % 4 < 2:
            key = np.where(self.rows < 0, self.rows + self.m, self.rows)
            order = np.argsort(np.where(key < 0, self.m + 9, key), -1, kind="stable")
            self.rows = np.take_along_axis(self.rows, order, -1)
            self.columns = np.take_along_axis(self.columns, order, -1)
        self.values = self.floats(self.count)

    def floats(self, *shape):
        return self.random.standard_normal((*self.batch, *shape)).astype(TYPES[self.kind])

    def pairs(self, first, second):
        return np.ascontiguousarray(np.stack([first, second], -1).astype(np.int32))

    def type(self, array, kind):
        return type_of(["?"] * array.ndim if self.open else array.shape, kind)

    def dense(self, rows):
        """One matrix for each of the batch, from the list with those rows."""
        matrix = np.zeros((*self.batch, self.m, self.k))
        rows = np.where(rows < 0, rows + self.m, rows)
        columns = np.where(self.columns < 0, self.columns + self.k, self.columns)
        inside = (rows >= 0) & (rows < self.m) & (columns >= 0) & (columns < self.k)
        where = np.nonzero(inside)
        np.add.at(matrix, (*where[:-1], rows[where], columns[where]), self.values[where])
        return matrix

    def call(self, tools, name, arrays, shape, target, flags=""):
        """Its result, whose shape is `shape`: an array of that shape says it."""
        like = np.zeros(shape, TYPES[self.kind])
        types = [self.type(a, "i32" if a.dtype == np.int32 else self.kind) for a in arrays]
        out = self.type(like, self.kind)
        names = [f"%a{i}" for i in range(len(arrays))]
        parameters = ", ".join(f"{a}: {t}" for a, t in zip(names, types, strict=True))
        config = f"mhlo.backend_config = {{{flags}}}"
        lines = []
        if self.open:
            sizes = []
            for d in range(like.ndim):
                lines.append(f"%d{d} = stablehlo.get_dimension_size %like, dim = {d} : ({out}) -> tensor<i32>")  # fmt: skip
                lines.append(f"%e{d} = stablehlo.reshape %d{d} : (tensor<i32>) -> tensor<1xi32>")
                sizes.append(f"%e{d}")
            ones = ", ".join(["tensor<1xi32>"] * like.ndim)
            whole = f"tensor<{like.ndim}xi32>"
            lines.append(f"%shape = stablehlo.concatenate {', '.join(sizes)}, dim = 0 : ({ones}) -> {whole}")  # fmt: skip
            names, types = [*names, "%shape"], [*types, whole]
            config += f", indices_of_shape_operands = dense<[{len(arrays)}]> : tensor<1xi64>"
        text = f"""func.func @main({parameters}, %like: {out}) -> {out} {{
          {chr(10).join(lines)}
          %r = stablehlo.custom_call @alula.{name}({", ".join(names)}) {{{config}}} : ({", ".join(types)}) -> {out}
          return %r : {out}
        }}"""
        given = [*arrays, like]
        kinds = ["i32" if a.dtype == np.int32 else self.kind for a in given]
        return run(tools, text, given, kinds, target)[0][0][0]

    def check(self, got, exact):
        error = 1e-5 if self.kind == "f32" else 1e-13
        scale = max(1, np.abs(exact).max(initial=0))
        np.testing.assert_allclose(got, exact, atol=error * scale * 10, rtol=0)


@pytest.mark.parametrize("seed", range(24))
def test_product(tools, seed):
    case = Case(seed)
    right = case.floats(case.k, case.n)
    transposed = seed % 5 == 0
    first, second = (case.columns, case.rows) if transposed else (case.rows, case.columns)
    got = case.call(
        tools, "sparse_product", [case.values, case.pairs(first, second), right],
        (*case.batch, case.m, case.n), TARGETS[seed // 4 % 2],
        f"transposed = {str(transposed).lower()}",
    )  # fmt: skip
    case.check(got, case.dense(case.rows) @ right)


@pytest.mark.parametrize("seed", range(24, 40))
def test_rows_product(tools, seed):
    case = Case(seed)
    right = case.floats(case.k, case.n)
    starts = np.sort(case.random.integers(0, case.count + 1, (*case.batch, case.m + 1)), -1)
    places = np.arange(case.count)
    rows = (starts[..., None, :] <= places[:, None]).sum(-1) - 1
    rows = np.where(rows < 0, case.m, rows)
    columns = case.columns.astype(np.int32)
    got = case.call(
        tools, "sparse_rows_product", [case.values, starts.astype(np.int32), columns, right],
        (*case.batch, case.m, case.n), TARGETS[seed // 4 % 2],
    )  # fmt: skip
    case.check(got, case.dense(rows) @ right)


@pytest.mark.parametrize("seed", range(40, 50))
def test_sampled(tools, seed):
    case = Case(seed)
    a, b = case.floats(case.m, case.n), case.floats(case.k, case.n)
    got = case.call(
        tools, "sparse_sampled", [a, b, case.pairs(case.rows, case.columns)],
        (*case.batch, case.count), TARGETS[seed // 4 % 2],
    )  # fmt: skip
    rows = np.where(case.rows < 0, case.rows + case.m, case.rows)
    columns = np.where(case.columns < 0, case.columns + case.k, case.columns)
    inside = (rows >= 0) & (rows < case.m) & (columns >= 0) & (columns < case.k)
    exact = np.zeros((*case.batch, case.count))
    whole = a.astype(float) @ np.swapaxes(b, -1, -2)
    where = np.nonzero(inside)
    exact[where] = whole[(*where[:-1], rows[where], columns[where])]
    case.check(got, exact)
