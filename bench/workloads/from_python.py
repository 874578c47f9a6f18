"""What Python's side costs: operations one by one, and shapes that never were before."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bench.case import Case, Row, Work, normal


def small_operations(count, rows, width):
    """Without `jit`: each operation is a call."""
    x, w = normal(rows, width), normal(width, width, scale=width**-0.5)
    b = normal(width, scale=0.1)

    def function(params, x, w, b):
        for _ in range(count // 5):
            x = lax.dot(x, w)
            x = x + b
            x = jnp.tanh(x)
            x = x * x
            x = jnp.sqrt(x)
        return x

    def numpy(params, x, w, b):
        for _ in range(count // 5):
            x = x @ w
            x = x + b
            x = np.tanh(x)
            x = x * x
            x = np.sqrt(x)
        return x

    def torch(torch, params, x, w, b):
        for _ in range(count // 5):
            x = x @ w
            x = x + b
            x = torch.tanh(x)
            x = x * x
            x = torch.sqrt(x)
        return x

    return Case(
        function,
        (x, w, b),
        Work(0, 0, 0),
        numpy=numpy,
        torch=torch,
        tolerance=1e-4,
        eager=True,
    )


def new_shapes(first, width, inner):
    """Each call has another number of rows, and compiles."""
    params = {
        "up": normal(width, inner, scale=width**-0.5),
        "down": normal(inner, width, scale=inner**-0.5),
    }

    def function(params, x):
        y = jax.nn.gelu(x @ params["up"]) @ params["down"]
        return jax.nn.softmax(x + y, axis=-1)

    def make_inputs(number):
        return (normal(first + number, width),)

    return Case(function, make_inputs(0), Work(0, 0, 0), params, fresh=make_inputs)


ROWS = [
    Row(
        "eager",
        "500 operations on 8 × 32, no jit",
        small_operations,
        (500, 8, 32),
        (495, 7, 31),
        from_python=True,
    ),
    Row(
        "new-shape",
        "jit with a new shape",
        new_shapes,
        (32, 64, 256),
        (33, 61, 253),
        from_python=True,
    ),
]
