"""Elementwise functions, rows, reductions and a transpose."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bench.case import Case, Row, Work, normal


def gelu(count, approximate):
    x = normal(count)

    def onnx(graph, params, x):
        kind = "tanh" if approximate else "none"
        graph.output(graph.add("Gelu", graph.input(x), approximate=kind))

    def numpy(params, x):
        inner = 0.7978845608 * (x + 0.044715 * x * x * x)
        return (0.5 * x * (1 + np.tanh(inner))).astype(np.float32)

    return Case(
        lambda params, x: jax.nn.gelu(x, approximate=approximate),
        (x,),
        Work(0, x.nbytes, x.nbytes),
        numpy=numpy if approximate else None,
        onnx=onnx,
    )


def softmax(rows, columns):
    x = normal(rows, columns)

    def numpy(params, x):
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def onnx(graph, params, x):
        graph.output(graph.add("Softmax", graph.input(x), axis=-1))

    work = Work(0, x.nbytes, x.nbytes)
    return Case(lambda params, x: jax.nn.softmax(x), (x,), work, numpy=numpy, onnx=onnx)


def layer_norm(rows, columns):
    x = normal(rows, columns)
    params = {"scale": normal(columns, seed=1), "shift": normal(columns, seed=2)}

    def function(params, x):
        centred = x - x.mean(-1, keepdims=True)
        variance = (centred * centred).mean(-1, keepdims=True)
        return centred * lax.rsqrt(variance + 1e-5) * params["scale"] + params["shift"]

    def numpy(params, x):
        centred = x - x.mean(-1, keepdims=True)
        variance = (centred * centred).mean(-1, keepdims=True)
        return centred / np.sqrt(variance + np.float32(1e-5)) * params["scale"] + params["shift"]

    def onnx(graph, params, x):
        weights = [graph.constant(params[name]) for name in ("scale", "shift")]
        name = graph.add("LayerNormalization", graph.input(x), *weights, epsilon=1e-5)
        graph.output(name)

    work = Work(0, x.nbytes, x.nbytes)
    return Case(function, (x,), work, params, numpy=numpy, onnx=onnx)


def sums(rows, columns, axis):
    x = normal(rows, columns)

    def onnx(graph, params, x):
        axes = graph.constant(np.array([axis]))
        graph.output(graph.add("ReduceSum", graph.input(x), axes, keepdims=0))

    return Case(
        lambda params, x: x.sum(axis),
        (x,),
        Work(0, x.nbytes, 4 * x.shape[1 - axis]),
        numpy=lambda params, x: x.sum(axis),
        onnx=onnx,
    )


def transpose(rows, columns):
    x = normal(rows, columns)

    def onnx(graph, params, x):
        graph.output(graph.add("Transpose", graph.input(x), perm=[1, 0]))

    return Case(
        lambda params, x: x.T,
        (x,),
        Work(0, x.nbytes, x.nbytes),
        numpy=lambda params, x: np.ascontiguousarray(x.T),
        onnx=onnx,
        tolerance=0,
    )


def add_one(count):
    def onnx(graph, params, x):
        graph.output(graph.add("Add", graph.input(x), graph.constant(np.float32(1))))

    return Case(
        lambda params, x: x + 1,
        (normal(count),),
        Work(0, 4 * count, 4 * count),
        numpy=lambda params, x: x + 1,
        onnx=onnx,
    )


def scalar_loop(steps):
    return Case(
        lambda params, x: lax.fori_loop(0, steps, lambda i, x: x * 0.999 + 0.1, x),
        (np.float32(1),),
        # One multiplication and addition waits for the last: no peak to reach.
        Work(0, 0, 0),
    )


def random_normal(count):
    return Case(
        lambda params, key: jax.random.normal(key, (count,), jnp.float32),
        (np.array([0, 7], np.uint32),),
        Work(0, 0, 4 * count),
    )


LARGE, ODD_LARGE = (1 << 22,), ((1 << 22) - 3,)
ROWS = [
    Row("gelu-tanh", "gelu (tanh) 4M", gelu, (*LARGE, True), (*ODD_LARGE, True)),
    Row("gelu-erf", "gelu (erf) 4M", gelu, (*LARGE, False), (*ODD_LARGE, False)),
    Row("softmax", "softmax 1024²", softmax, (1024, 1024), (1021, 1019)),
    Row("layernorm", "layer norm 1024²", layer_norm, (1024, 1024), (1021, 1019)),
    Row("row-sums", "row sums 4096²", sums, (4096, 4096, 1), (4093, 4091, 1)),
    Row("column-sums", "column sums 4096²", sums, (4096, 4096, 0), (4093, 4091, 0)),
    Row("transpose", "transpose 4096²", transpose, (4096, 4096), (4093, 4091)),
    Row("scalar-loop", "1000 scalar loop steps", scalar_loop, (1000,), (997,)),
    Row("random-normal", "threefry normal 1M", random_normal, (1 << 20,), (1000003,)),
    Row("add-one", "x + 1 on 4 floats", add_one, (4,), (3,)),
]
