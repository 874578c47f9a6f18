"""Parts of larger networks: an LSTM over a text, a layer of experts, a block of a diffusion
network."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bench.case import Case, Row, Work, nbytes, normal
from bench.workloads.networks import convolve, onnx_convolve


def lstm(steps, batch, inputs, hidden):
    params = {
        "input": normal(inputs, 4 * hidden, scale=inputs**-0.5),
        "state": normal(hidden, 4 * hidden, scale=hidden**-0.5, seed=1),
        "bias": normal(4 * hidden, scale=0.1),
    }
    x = normal(steps, batch, inputs)
    h, c = normal(batch, hidden, scale=0.1), normal(batch, hidden, scale=0.1, seed=1)

    def function(params, x, h, c):
        def step(state, now):
            h, c = state
            gates = now @ params["input"] + h @ params["state"] + params["bias"]
            i, f, g, o = jnp.split(gates, 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        (h, c), all_h = lax.scan(step, (h, c), x)
        return all_h, h, c

    def onnx(graph, params, x, h, c):
        def reordered(weights):
            i, f, g, o = np.split(np.atleast_2d(weights), 4, -1)
            return np.concatenate([i, o, f, g], -1).T[None].copy()

        bias = reordered(params["bias"])[:, :, 0]
        names = [
            graph.input(x),
            graph.constant(reordered(params["input"])),
            graph.constant(reordered(params["state"])),
            graph.constant(np.concatenate([bias, np.zeros_like(bias)], -1)),
            "",
            graph.input(h[None]),
            graph.input(c[None]),
        ]
        for name in graph.add("LSTM", *names, results=3, hidden_size=hidden):
            graph.output(name)

    def torch(torch, params, x, h, c):
        state, weights = (h, c), params["state"]
        sequence = x @ params["input"] + params["bias"]
        out = []
        for now in sequence:
            h, c = state
            i, f, g, o = (now + h @ weights).chunk(4, -1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            state = (h, c)
            out.append(h)
        return torch.stack(out), *state

    flops = 8.0 * steps * batch * (inputs + hidden) * hidden
    work = Work(flops, nbytes(x, h, c, *params.values()), 4 * (steps + 2) * batch * hidden)
    return Case(function, (x, h, c), work, params, onnx=onnx, torch=torch)


def experts(tokens, width, count, chosen, inner):
    """Each token goes to the experts that score it best; rows are sorted by experts, whose
    products are those of groups of rows."""
    params = {
        "router": normal(width, count, scale=width**-0.5),
        "gate": normal(count, width, inner, scale=width**-0.5),
        "up": normal(count, width, inner, scale=width**-0.5, seed=1),
        "down": normal(count, inner, width, scale=inner**-0.5),
    }
    x = normal(tokens, width)

    def function(params, x):
        scores, which = lax.top_k(x @ params["router"], chosen)
        shares = jax.nn.softmax(scores).reshape(-1)
        which = which.reshape(-1)
        order = jnp.argsort(which)
        sizes = jnp.bincount(which, length=count).astype(jnp.int32)
        rows = x[order // chosen]
        gate = lax.ragged_dot(rows, params["gate"], sizes)
        up = lax.ragged_dot(rows, params["up"], sizes)
        down = lax.ragged_dot(jax.nn.silu(gate) * up, params["down"], sizes)
        return jnp.zeros_like(x).at[order // chosen].add(down * shares[order][:, None])

    def numpy(params, x):
        scores = x @ params["router"]
        which = np.argsort(-scores, axis=1)[:, :chosen]
        best = np.take_along_axis(scores, which, 1)
        shares = np.exp(best - best.max(1, keepdims=True))
        shares /= shares.sum(1, keepdims=True)
        result = np.zeros_like(x)
        for e in range(count):
            token, place = np.nonzero(which == e)
            rows = x[token]
            gate = rows @ params["gate"][e]
            hidden = gate / (1 + np.exp(-gate)) * (rows @ params["up"][e])
            result[token] += hidden @ params["down"][e] * shares[token, place][:, None]
        return result

    flops = 2.0 * tokens * (width * count + 3 * chosen * width * inner)
    work = Work(flops, nbytes(x, *params.values()), x.nbytes)
    return Case(function, (x,), work, params, numpy=numpy)


GROUPS = 32


def unet_params(inputs, channels, time, words):
    def matrix(k, n, seed):
        return normal(k, n, scale=k**-0.5, seed=seed)

    params = {
        "conv1": normal(3, 3, inputs, channels, scale=(9 * inputs) ** -0.5),
        "conv2": normal(3, 3, channels, channels, scale=(9 * channels) ** -0.5),
        "short": normal(1, 1, inputs, channels, scale=inputs**-0.5),
        "time": matrix(time, channels, 0),
        "up": matrix(channels, 8 * channels, 1),
        "down": matrix(4 * channels, channels, 2),
    }
    for kind, source in (("self", channels), ("cross", words)):
        params[kind + "_q"] = matrix(channels, channels, 3)
        params[kind + "_k"] = matrix(source, channels, 4)
        params[kind + "_v"] = matrix(source, channels, 5)
        params[kind + "_out"] = matrix(channels, channels, 6)
    for name, width in (("norm1", inputs), ("norm2", channels), ("norm3", channels)):
        params[name] = 1 + normal(width, scale=0.1)
        params[name + "_bias"] = normal(width, scale=0.1)
    for name in ("norm4", "norm5", "norm6"):
        params[name] = 1 + normal(channels, scale=0.1)
        params[name + "_bias"] = normal(channels, scale=0.1)
    return params


def group_norm(params, name, x):
    batch, height, width, channels = x.shape
    parts = x.reshape(batch, height * width, GROUPS, channels // GROUPS)
    mean = parts.mean((1, 3), keepdims=True)
    variance = ((parts - mean) ** 2).mean((1, 3), keepdims=True)
    parts = (parts - mean) * lax.rsqrt(variance + 1e-5)
    return parts.reshape(x.shape) * params[name] + params[name + "_bias"]


def layer_norm(params, name, x):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * params[name] + params[name + "_bias"]


def unet_block(side, inputs, channels, heads, time, tokens, words):
    """Stable Diffusion's: two convolutions with the time between them, attention of pixels among
    themselves and to the words of a text, a gated perceptron."""
    params = unet_params(inputs, channels, time, words)
    x, moment = normal(1, side, side, inputs), normal(1, time)
    text = normal(tokens, words)
    size = channels // heads

    def attention(params, kind, x, source):
        def split(value):
            return value.reshape(-1, heads, size)

        q, k, v = (
            split(value @ params[f"{kind}_{name}"])
            for name, value in (("q", x), ("k", source), ("v", source))
        )
        weights = jax.nn.softmax(jnp.einsum("qhd,khd->hqk", q, k) * float(size**-0.5))
        mixed = jnp.einsum("hqk,khd->qhd", weights, v).reshape(-1, channels)
        return mixed @ params[kind + "_out"]

    def function(params, x, moment, text):
        y = convolve(jax.nn.silu(group_norm(params, "norm1", x)), params["conv1"])
        y = y + (jax.nn.silu(moment) @ params["time"])[:, None, None, :]
        y = convolve(jax.nn.silu(group_norm(params, "norm2", y)), params["conv2"])
        x = convolve(x, params["short"]) + y
        pixels = group_norm(params, "norm3", x).reshape(-1, channels)
        normed = layer_norm(params, "norm4", pixels)
        pixels = pixels + attention(params, "self", normed, normed)
        normed = layer_norm(params, "norm5", pixels)
        pixels = pixels + attention(params, "cross", normed, text)
        wide, gate = jnp.split(layer_norm(params, "norm6", pixels) @ params["up"], 2, -1)
        pixels = pixels + (wide * jax.nn.gelu(gate, approximate=False)) @ params["down"]
        return x + pixels.reshape(x.shape)

    def onnx(graph, params, x, moment, text):
        add, constant = graph.add, graph.constant

        def shaped(name, *shape):
            return add("Reshape", name, constant(np.array(shape)))

        def silu(name):
            return add("Mul", name, add("Sigmoid", name))

        def matmul(name, weights):
            return add("MatMul", name, constant(params[weights]))

        def grouped(name, which, width):
            parts = shaped(name, 1, GROUPS, -1)
            ones = constant(np.ones(GROUPS, np.float32))
            zeros = constant(np.zeros(GROUPS, np.float32))
            parts = add("InstanceNormalization", parts, ones, zeros, epsilon=1e-5)
            parts = shaped(parts, 1, width, side, side)
            scale = constant(params[which].reshape(-1, 1, 1))
            shift = constant(params[which + "_bias"].reshape(-1, 1, 1))
            return add("Add", add("Mul", parts, scale), shift)

        def layered(name, which):
            weights = constant(params[which]), constant(params[which + "_bias"])
            return add("LayerNormalization", name, *weights, epsilon=1e-5)

        def attended(kind, name, source):
            def split(name, which, perm):
                name = shaped(matmul(name, f"{kind}_{which}"), -1, heads, size)
                return add("Transpose", name, perm=perm)

            q, k = split(name, "q", [1, 0, 2]), split(source, "k", [1, 2, 0])
            scores = add("Mul", add("MatMul", q, k), constant(np.float32(size**-0.5)))
            weights = add("Softmax", scores, axis=-1)
            mixed = add("MatMul", weights, split(source, "v", [1, 0, 2]))
            mixed = shaped(add("Transpose", mixed, perm=[1, 0, 2]), -1, channels)
            return matmul(mixed, kind + "_out")

        x = graph.input(x.transpose(0, 3, 1, 2).copy())
        moment, text = graph.input(moment), graph.input(text)
        y = onnx_convolve(graph, silu(grouped(x, "norm1", inputs)), params["conv1"])
        y = add("Add", y, shaped(matmul(silu(moment), "time"), 1, channels, 1, 1))
        y = onnx_convolve(graph, silu(grouped(y, "norm2", channels)), params["conv2"])
        x = add("Add", onnx_convolve(graph, x, params["short"]), y)
        pixels = add("Transpose", grouped(x, "norm3", channels), perm=[0, 2, 3, 1])
        pixels = shaped(pixels, -1, channels)
        normed = layered(pixels, "norm4")
        pixels = add("Add", pixels, attended("self", normed, normed))
        normed = layered(pixels, "norm5")
        pixels = add("Add", pixels, attended("cross", normed, text))
        wide = matmul(layered(pixels, "norm6"), "up")
        wide, gate = add("Split", wide, results=2, axis=1, num_outputs=2)
        wide = add("Mul", wide, add("Gelu", gate, approximate="none"))
        pixels = add("Add", pixels, matmul(wide, "down"))
        pixels = shaped(pixels, 1, side, side, channels)
        pixels = add("Transpose", pixels, perm=[0, 3, 1, 2])
        graph.output(add("Add", x, pixels), permutation=(0, 2, 3, 1))

    pixels = side * side
    flops = 2.0 * pixels * (params["conv1"].size + params["conv2"].size + params["short"].size)
    flops += 2.0 * pixels * channels * (16 * channels) + 4.0 * tokens * words * channels
    flops += 4.0 * pixels * channels * (pixels + tokens)
    work = Work(flops, nbytes(x, moment, text, *params.values()), 4 * pixels * channels)
    return Case(function, (x, moment, text), work, params, onnx=onnx, tolerance=5e-5)


ROWS = [
    Row(
        "lstm",
        "LSTM 256-512, batch 16, 64 steps",
        lstm,
        (64, 16, 256, 512),
        (61, 15, 253, 509),
    ),
    Row(
        "experts",
        "256 tokens to 2 of 8 experts",
        experts,
        (256, 512, 8, 2, 1024),
        (251, 509, 7, 2, 1021),
    ),
    Row(
        "unet-block",
        "diffusion UNet block, 32², 128→256",
        unet_block,
        (32, 128, 256, 8, 512, 77, 768),
        (29, 96, 224, 7, 509, 75, 761),
    ),
]
