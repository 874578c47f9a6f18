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


def constant_bytes(m, k, n):
    """Unsigned activations and signed weights, as onnxruntime multiplies them best."""
    random = np.random.default_rng(0)
    a = random.integers(0, 256, (m, k)).astype(np.uint8)
    w = random.integers(-128, 128, (k, n)).astype(np.int8)

    def onnx(graph, params, a):
        weights = graph.constant(params["w"])
        graph.output(graph.add("MatMulInteger", graph.input(a), weights))

    return Case(
        lambda params, a: lax.dot(a.astype(jnp.int32), jnp.asarray(params["w"]).astype(jnp.int32)),
        (a,),
        work_of(a, w, 4 * m * n, kind="int8"),
        params={"w": w},
        onnx=onnx,
        tolerance=0,
    )


def few_bit_weights(m, k, n, bits, block, level=1, has_zeros=False):
    """Floats times weights of few bits with a scale for each block along the sums, and a zero
    point or none. `level` is onnxruntime's: in 1 sums are of f32, in 4 activations become
    bytes."""
    random = np.random.default_rng(0)
    a = normal(m, k)
    codes = random.integers(0, 1 << bits, (k, n))
    scales = random.uniform(0.5, 2, (k // block, n)).astype(np.float32) / np.float32(64)
    params = {"scales": scales}
    if has_zeros:
        params["w"] = codes.astype(ml_dtypes.uint4 if bits == 4 else np.uint8)
        params["zeros"] = random.integers(0, 1 << bits, scales.shape).astype(params["w"].dtype)
    else:
        signed = codes - (1 << bits - 1)
        params["w"] = signed.astype(ml_dtypes.int4 if bits == 4 else np.int8)

    def function(params, a):
        wide = jnp.asarray(params["w"]).astype(a.dtype).reshape(k // block, block, n)
        if has_zeros:
            wide = wide - jnp.asarray(params["zeros"]).astype(a.dtype)[:, None]
        return a @ (wide * params["scales"][:, None]).reshape(k, n)

    def pack(lines):
        """Along the last dimension, as onnxruntime has them."""
        lines = lines.astype(np.uint8)
        if bits == 8:
            return lines
        lines = np.pad(lines, [(0, 0), (0, lines.shape[1] % 2)])
        return lines[:, 0::2] | lines[:, 1::2] << 4

    def onnx(graph, params, a):
        numbers = [np.ascontiguousarray(scales.T).reshape(-1)]
        if has_zeros:
            numbers.append(pack(params["zeros"].T).reshape(-1))
        graph.output(
            graph.add(
                "MatMulNBits",
                graph.input(a),
                graph.constant(pack(codes.T).reshape(n, k // block, -1)),
                *map(graph.constant, numbers),
                domain="com.microsoft",
                K=k,
                N=n,
                bits=bits,
                block_size=block,
                accuracy_level=level,
            )
        )

    read = a.nbytes + codes.size * bits // 8 + scales.nbytes
    read += scales.size * bits // 8 if has_zeros else 0
    return Case(
        function,
        (a,),
        Work(2.0 * m * k * n, read, 4 * m * n),
        params=params,
        onnx=onnx,
        few_bits=(codes, scales, bits) if block == 32 and not has_zeros else None,
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
    Row(
        "matvec-bytes",
        "u8 row times i8 weights 4096",
        constant_bytes,
        (1, 4096, 4096),
        (1, 4093, 4091),
    ),
    Row(
        "matmul-bytes",
        "128 u8 rows times i8 weights 4096",
        constant_bytes,
        (128, 4096, 4096),
        (127, 4093, 4091),
    ),
    Row(
        "matvec-i4",
        "row times i4 weights 4096",
        few_bit_weights,
        (1, 4096, 4096, 4, 32),
        (1, 4064, 4090, 4, 32),
    ),
    Row(
        "matmul-i4",
        "128 rows times i4 weights 4096",
        few_bit_weights,
        (128, 4096, 4096, 4, 32),
        (127, 4064, 4090, 4, 32),
    ),
    Row(
        "matvec-i8",
        "row times i8 weights 4096",
        few_bit_weights,
        (1, 4096, 4096, 8, 32),
        (1, 4064, 4090, 8, 32),
    ),
    Row("matmul-batched", "64 products 64", batched_product, (64, 64), (63, 61)),
]
