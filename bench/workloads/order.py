"""Sorting and moving by indices."""

import jax.numpy as jnp
import numpy as np

from bench.case import Case, Row, Work, normal


def indices(count):
    return np.random.default_rng(count).integers(0, count, count).astype(np.int32)


def sort(count):
    x = normal(count)

    def onnx(graph, params, x):
        k = graph.constant(np.array([count]))
        values, _ = graph.add("TopK", graph.input(x), k, results=2, largest=0)
        graph.output(values)

    return Case(
        lambda params, x: jnp.sort(x),
        (x,),
        Work(0, x.nbytes, x.nbytes),
        numpy=lambda params, x: np.sort(x),
        onnx=onnx,
        tolerance=0,
    )


def gather(count):
    x, i = normal(count), indices(count)

    def onnx(graph, params, x, i):
        graph.output(graph.add("Gather", graph.input(x), graph.input(i)))

    return Case(
        lambda params, x, i: x[i],
        (x, i),
        Work(0, x.nbytes + i.nbytes, x.nbytes),
        numpy=lambda params, x, i: x[i],
        onnx=onnx,
        tolerance=0,
    )


def scatter_add(count):
    x, i, v = normal(count), indices(count), normal(count, seed=1)

    def numpy(params, x, i, v):
        out = x.copy()
        np.add.at(out, i, v)
        return out

    def onnx(graph, params, x, i, v):
        names = [graph.input(a) for a in (x, i, v)]
        graph.output(graph.add("ScatterElements", *names, axis=0, reduction="add"))

    return Case(
        lambda params, x, i, v: x.at[i].add(v),
        (x, i, v),
        Work(0, 3 * x.nbytes, x.nbytes),
        numpy=numpy,
        onnx=onnx,
    )


MILLION, ODD_MILLION = (1 << 20,), (1000003,)
ROWS = [
    Row("sort", "sort 1M f32", sort, MILLION, ODD_MILLION),
    Row("gather", "gather 1M", gather, MILLION, ODD_MILLION),
    Row("scatter-add", "scatter-add 1M", scatter_add, MILLION, ODD_MILLION),
]
