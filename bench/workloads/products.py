"""Products of matrices."""

import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

from bench.case import Case, Row, Work, nbytes, normal


def work_of(a, b, out_bytes, batch=1, kind="f32"):
    flops = 2.0 * batch * a.shape[-2] * a.shape[-1] * b.shape[-1]
    return Work(flops, nbytes(a, b), out_bytes, kind)


def onnx_product(graph, params, a, b):
    graph.output(graph.add("MatMul", graph.input(a), graph.input(b)))


def product(m, k, n):
    a, b = normal(m, k), normal(k, n, seed=1)
    return Case(
        lambda params, a, b: a @ b,
        (a, b),
        work_of(a, b, 4 * m * n),
        numpy=lambda params, a, b: a @ b,
        onnx=onnx_product,
    )


def bf16_product(m, k, n):
    a = normal(m, k).astype(ml_dtypes.bfloat16)
    b = normal(k, n, seed=1).astype(ml_dtypes.bfloat16)
    work = work_of(a, b, 4 * m * n, kind="bf16")
    return Case(
        lambda params, a, b: lax.dot(a, b, preferred_element_type=jnp.float32), (a, b), work
    )


def int8_product(m, k, n):
    random = np.random.default_rng(0)
    a = random.integers(-128, 128, (m, k)).astype(np.int8)
    b = random.integers(-128, 128, (k, n)).astype(np.int8)

    def onnx(graph, params, a, b):
        graph.output(graph.add("MatMulInteger", graph.input(a), graph.input(b)))

    return Case(
        lambda params, a, b: lax.dot(a, b, preferred_element_type=jnp.int32),
        (a, b),
        work_of(a, b, 4 * m * n, kind="int8"),
        onnx=onnx,
        tolerance=0,
    )


def batched_product(batch, n):
    a, b = normal(batch, n, n), normal(batch, n, n, seed=1)
    return Case(
        lambda params, a, b: a @ b,
        (a, b),
        work_of(a, b, 4 * batch * n * n, batch),
        numpy=lambda params, a, b: a @ b,
        onnx=onnx_product,
    )


def square(n, odd):
    title = f"product {n} × {n}"
    return Row(f"matmul-{n}", title, product, (n, n, n), (odd, odd, odd))


ROWS = [
    square(256, 253),
    square(512, 509),
    square(1024, 1021),
    square(2048, 2039),
    Row("matmul-bf16", "product 1024, bf16 to f32", bf16_product, (1024,) * 3, (1021,) * 3),
    Row("matmul-int8", "product 1024, i8 to i32", int8_product, (1024,) * 3, (1021,) * 3),
    Row("matmul-batched", "64 products 64", batched_product, (64, 64), (63, 61)),
]
