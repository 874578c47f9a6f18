"""Gathers and scatters with every kind of dimension numbers, against XLA:CPU."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import random

import jax_functions
import numpy as np
import pytest
import xla_cpu

pytestmark = jax_functions.needs_build
tools = jax_functions.tools

FIRST = int(os.environ.get("ALULA_RANDOM_FIRST", "0"))
COUNT = int(os.environ.get("ALULA_RANDOM_COUNT", "24"))
INDEX_KINDS = [np.int32, np.int32, np.int64, np.int8, np.uint8, np.uint64]


def csv(numbers):
    return ", ".join(map(str, numbers))


def some(draw, things, most=9):
    return draw.sample(things, draw.randint(0, min(len(things), most)))


def type_of(array):
    kind = jax_functions.kind_of(array)
    return "tensor<" + "".join(f"{size}x" for size in array.shape) + kind + ">"


class Numbers:
    """Which dimension of the big tensor, the indices and the small tensor does what."""

    def __init__(self, draw):
        sizes = [1, 2, 3, 4] if draw.random() < 0.9 else [0, 1, 2]
        self.big = [draw.choice(sizes) for _ in range(draw.randint(0, 4))]
        dims = list(range(len(self.big)))
        self.big_batching = sorted(some(draw, dims, 2) if draw.random() < 0.4 else [])
        rest = [dim for dim in dims if dim not in self.big_batching]
        self.map = some(draw, rest, 3)
        self.removed = sorted(some(draw, rest))
        self.window = [dim for dim in rest if dim not in self.removed]
        # The big dimension that each dimension of the batch goes along with.
        batch = [*self.big_batching, *[None] * draw.randint(0, 2)]
        draw.shuffle(batch)
        self.batch = [draw.randint(1, 3) if dim is None else self.big[dim] for dim in batch]
        self.vector_dim = draw.randint(0, len(batch))
        self.indices = list(self.batch)
        if len(self.map) == 1 and draw.random() < 0.3:
            self.vector_dim = len(batch)
        else:
            self.indices.insert(self.vector_dim, len(self.map))
        positions = [batch.index(dim) for dim in self.big_batching]
        self.index_batching = [p + (p >= self.vector_dim) for p in positions]
        # The whole of a dimension as often as a part.
        self.slices = [
            draw.choice([size, draw.randint(0, size)]) if dim in self.window else min(size, 1)
            for dim, size in enumerate(self.big)
        ]
        rank = len(batch) + len(self.window)
        self.window_dims = sorted(draw.sample(range(rank), len(self.window)))
        windows = iter([self.slices[dim] for dim in self.window])
        batches = iter(self.batch)
        self.small = [next(windows if d in self.window_dims else batches) for d in range(rank)]

    def gather(self, big, indices):
        return (
            f'"stablehlo.gather"({big}, {indices}) <{{dimension_numbers = #stablehlo.gather<'
            f"offset_dims = [{csv(self.window_dims)}], collapsed_slice_dims = "
            f"[{csv(self.removed)}], operand_batching_dims = [{csv(self.big_batching)}], "
            f"start_indices_batching_dims = [{csv(self.index_batching)}], start_index_map = "
            f"[{csv(self.map)}], index_vector_dim = {self.vector_dim}>, slice_sizes = "
            f"array<i64{': ' if self.slices else ''}{csv(self.slices)}>}}>"
        )

    def scatter(self, add, bigs, indices, updates):
        arguments = [*(f"%a{k}" for k in range(len(bigs))), *(f"%b{k}" for k in range(len(bigs)))]
        body = "".join(
            f"    %r{k} = stablehlo.{'add' if add else 'maximum'} %a{k}, %b{k} : tensor<i32>\n"
            for k in range(len(bigs))
        )
        return (
            f'"stablehlo.scatter"({csv([*bigs, indices, *updates])}) <{{'
            "scatter_dimension_numbers = #stablehlo.scatter<"
            f"update_window_dims = [{csv(self.window_dims)}], inserted_window_dims = "
            f"[{csv(self.removed)}], input_batching_dims = [{csv(self.big_batching)}], "
            f"scatter_indices_batching_dims = [{csv(self.index_batching)}], "
            f"scatter_dims_to_operand_dims = [{csv(self.map)}], index_vector_dim = "
            f"{self.vector_dim}>}}> ({{\n  ^bb0("
            f"{csv(f'{a}: tensor<i32>' for a in arguments)}):\n{body}    stablehlo.return "
            f"{csv(f'%r{k}' for k in range(len(bigs)))} : {csv(['tensor<i32>'] * len(bigs))}\n  }})"
        )

    def scatter_by_hand(self, op, big, indices, updates):
        big = big.copy()
        kept = self.index_batching, self.big_batching
        for at in np.ndindex(*self.small):
            batch = [k for dim, k in enumerate(at) if dim not in self.window_dims]
            corner = [0] * len(self.big)
            for k, dim in enumerate(self.map):
                index = list(batch)
                if self.vector_dim < len(self.indices):
                    index.insert(self.vector_dim, k)
                corner[dim] = int(indices[tuple(index)])
            for position, dim in zip(*kept, strict=True):
                corner[dim] = batch[position - (position > self.vector_dim)]
            sizes = [1] * len(self.big)
            place = list(corner)
            for small, dim in zip(self.window_dims, self.window, strict=True):
                sizes[dim] = self.small[small]
                place[dim] += at[small]
            # All of a window or nothing.
            if all(0 <= c <= b - s for c, b, s in zip(corner, self.big, sizes, strict=True)):
                big[tuple(place)] = op(big[tuple(place)], updates[at])
        return big


class Program:
    def __init__(self, seed, ops=6):
        self.draw, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.arrays, self.lines, self.results = [], [], []
        # What results must be, where XLA:CPU is not to be asked.
        self.expected = {}
        for _ in range(ops):
            self.add(Numbers(self.draw))

    def argument(self, array):
        self.arrays.append(array)
        return f"%x{len(self.arrays) - 1}"

    def values(self, shape):
        return self.argument(self.numbers.integers(-99, 99, shape).astype(np.int32))

    def add(self, numbers):
        kind = self.draw.choice(INDEX_KINDS)
        # Some lie outside.
        low = 0 if np.issubdtype(kind, np.unsignedinteger) else -2
        indices = self.numbers.integers(low, 6, numbers.indices).astype(kind)
        given = self.argument(indices)
        # XLA fails on some scatters into tensors without dimensions, and dies of some
        # gathers of slices that are empty in a dimension that is left out.
        is_empty = any(numbers.slices[dim] == 0 for dim in numbers.removed)
        if not is_empty and (not numbers.big or self.draw.random() < 0.5):
            big = self.values(numbers.big)
            shapes, operands = [numbers.small], [big, given]
            text = numbers.gather(big, given)
        else:
            count = self.draw.choice([1, 1, 2])
            bigs = [self.values(numbers.big) for _ in range(count)]
            updates = [self.values(numbers.small) for _ in range(count)]
            shapes, operands = [numbers.big] * count, [*bigs, given, *updates]
            add = self.draw.random() < 0.5
            text = numbers.scatter(add, bigs, given, updates)
            arrays = {name: self.arrays[int(name[2:])] for name in (*bigs, *updates)}
            # XLA:CPU applies the last of several updates alone if no index says where.
            if not numbers.map:
                for k, (big, update) in enumerate(zip(bigs, updates, strict=True)):
                    self.expected[len(self.results) + k] = numbers.scatter_by_hand(
                        np.add if add else np.maximum, arrays[big], indices, arrays[update]
                    )
        name = f"%y{len(self.lines)}"
        results = [type_of(np.empty(shape, np.int32)) for shape in shapes]
        types = csv(type_of(self.arrays[int(o[2:])]) for o in operands)
        left = f"{name}:{len(results)}" if len(results) > 1 else name
        self.lines.append(f"  {left} = {text} : ({types}) -> ({csv(results)})")
        names = [f"{name}#{k}" for k in range(len(results))] if len(results) > 1 else [name]
        self.results += zip(names, results, strict=True)

    def text(self):
        given = csv(f"%x{k}: {type_of(a)}" for k, a in enumerate(self.arrays))
        names, types = csv(n for n, _ in self.results), csv(t for _, t in self.results)
        lines = "\n".join(self.lines)
        return (
            f"func.func @main({given}) -> ({types}) {{\n{lines}\n  return {names} : {types}\n}}\n"
        )


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_window_numbers(tools, seed):
    program = Program(seed)
    text = program.text()
    got = jax_functions.run_text(tools, text, program.arrays, jax_functions.TARGETS[seed % 3])
    expected = xla_cpu.run(text, program.arrays)
    for k, (ours, theirs) in enumerate(zip(got, expected, strict=True)):
        theirs = program.expected.get(k, theirs)
        np.testing.assert_array_equal(ours, theirs, err_msg=f"{program.results[k]}\n{text}")
