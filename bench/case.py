"""What a benchmark is: a JAX function with its data, and how much work it is."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Work:
    """The least that any program must do: operations of one kind, and bytes."""

    flops: float
    read: float
    written: float
    # Which peak the operations have: "f32", "bf16" or "int8".
    kind: str = "f32"


@dataclass(frozen=True)
class Case:
    """One row at one size.

    function(params, *inputs) is what JAX lowers; params are constants of the
    program. numpy has the same signature; onnx(graph, params, *inputs) builds
    the same with an OnnxGraph; torch(torch, params, *inputs) has tensors. None:
    the peer cannot say it."""

    function: Callable
    inputs: tuple
    work: Work
    params: dict = field(default_factory=dict)
    numpy: Callable | None = None
    onnx: Callable | None = None
    torch: Callable | None = None
    # Without `jit`: the row is its calls, one by one.
    eager: bool = False
    # The inputs of the nth call, if each has shapes that none had before.
    fresh: Callable | None = None
    # Of weights of few bits: unsigned codes [sums, columns], scales for each
    # 32 of them, bits. What they multiply may be rounded.
    few_bits: tuple | None = None
    # Of the largest error by the largest value of each result.
    tolerance: float = 2e-5

    def closed(self):
        return lambda *inputs: self.function(self.params, *inputs)


@dataclass(frozen=True)
class Row:
    """A benchmark: builds its case for the usual or for the odd size."""

    name: str
    title: str
    build: Callable
    usual: tuple
    odd: tuple
    # Tools cannot have it: a way of calling, or what JAX says otherwise for
    # each platform, as it does LAPACK.
    from_python: bool = False

    def case(self, size: str) -> Case:
        return self.build(*(self.odd if size == "odd" else self.usual))


def nbytes(*arrays) -> int:
    return sum(a.nbytes for a in arrays)


def normal(*shape, scale=1.0, seed=0) -> np.ndarray:
    values = np.random.default_rng([seed, *shape]).standard_normal(shape, np.float32)
    return values * np.float32(scale)
