"""Sums of segments: alone, and in a layer of attention along the edges of a graph."""

import jax
import jax.numpy as jnp
import numpy as np

from bench.case import Case, Row, Work, nbytes, normal


def segment_sum(count, width, segments, in_order):
    values = normal(count, width)
    which = np.random.default_rng(0).integers(0, segments, count).astype(np.int32)
    which = np.sort(which) if in_order else which

    def function(params, values, which):
        return jax.ops.segment_sum(values, which, segments, indices_are_sorted=in_order)

    def numpy(params, values, which):
        out = np.zeros((segments, width), np.float32)
        np.add.at(out, which, values)
        return out

    def onnx(graph, params, values, which):
        zeros = graph.constant(np.zeros((segments, width), np.float32))
        places = graph.input(which[:, None].astype(np.int64))
        values = graph.input(values)
        graph.output(graph.add("ScatterND", zeros, places, values, reduction="add"))

    def torch(torch, params, values, which):
        out = torch.zeros(segments, width)
        return out.index_add_(0, which, values)

    work = Work(float(values.size), nbytes(values, which), 4 * segments * width)
    return Case(function, (values, which), work, numpy=numpy, onnx=onnx, torch=torch)


def graph_attention(nodes, edges, inputs, heads, size):
    params = {
        "weights": normal(inputs, heads * size, scale=inputs**-0.5),
        "from": normal(heads, size, scale=size**-0.5, seed=1),
        "to": normal(heads, size, scale=size**-0.5, seed=2),
    }
    x = normal(nodes, inputs)
    random = np.random.default_rng(0)
    senders, receivers = (random.integers(0, nodes, edges).astype(np.int32) for _ in range(2))

    def function(params, x, senders, receivers):
        h = (x @ params["weights"]).reshape(nodes, heads, size)
        out, into = (h * params["from"]).sum(-1), (h * params["to"]).sum(-1)
        scores = jax.nn.leaky_relu(out[senders] + into[receivers], 0.2)
        largest = jax.ops.segment_max(scores, receivers, nodes)
        e = jnp.exp(scores - largest[receivers])
        sums = jax.ops.segment_sum(e, receivers, nodes)
        shares = e / sums[receivers]
        mixed = jax.ops.segment_sum(shares[:, :, None] * h[senders], receivers, nodes)
        return jax.nn.elu(mixed.reshape(nodes, heads * size))

    flops = 2.0 * nodes * inputs * heads * size + 2.0 * edges * heads * size
    read = nbytes(x, senders, receivers, *params.values()) + 4 * edges * heads * size
    work = Work(flops, read, 4 * nodes * heads * size)
    return Case(function, (x, senders, receivers), work, params)


ROWS = [
    Row(
        "segment-sum",
        "200k × 32 to 20k sums",
        segment_sum,
        (200_000, 32, 20_000, False),
        (199_999, 31, 19_997, False),
    ),
    Row(
        "segment-sorted",
        "the same, sorted",
        segment_sum,
        (200_000, 32, 20_000, True),
        (199_999, 31, 19_997, True),
    ),
    Row(
        "graph-attention",
        "graph attention, 5k nodes, 50k edges",
        graph_attention,
        (5000, 50_000, 128, 4, 32),
        (4999, 49_999, 127, 3, 31),
    ),
]
