"""Gradients of convolutions, transposed and depthwise ones, a training step of ResNet-50."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bench.case import Case, Row, Work, nbytes, normal
from bench.workloads.networks import CHANNELS_LAST, convolve


def count_products(size, window, stride):
    """Along one dimension, "SAME": pairs of an output and a tap that meets an input."""
    outputs = -(-size // stride)
    before = max((outputs - 1) * stride + window - size, 0) // 2
    first = np.arange(outputs) * stride - before
    return int((np.minimum(first + window, size) - np.maximum(first, 0)).sum())


def make_case(function, inputs, flops):
    result = jax.eval_shape(lambda *given: function({}, *given), *inputs)
    written = sum(r.size * r.dtype.itemsize for r in jax.tree.leaves(result))
    return Case(function, inputs, Work(flops, nbytes(*inputs), written))


def transposed(convolution, by, like):
    """What leads gradients of the result back to one operand, with the other one given."""

    def function(params, other, gradient):
        def of_one(one):
            return convolution(one, other) if by == "inputs" else convolution(other, one)

        shape = jax.ShapeDtypeStruct(like, gradient.dtype)
        return jax.linear_transpose(of_one, shape)(gradient)[0]

    return function


def gradient(by, batch, side, inputs, outputs, window, stride, depthwise=False):
    groups = inputs if depthwise else 1

    def convolution(x, w):
        return lax.conv_general_dilated(
            x,
            w,
            (stride, stride),
            "SAME",
            dimension_numbers=CHANNELS_LAST,
            feature_group_count=groups,
        )

    x = normal(batch, side, side, inputs)
    w = normal(window, window, inputs // groups, outputs, scale=0.05)
    g = normal(batch, -(-side // stride), -(-side // stride), outputs)
    flops = 2.0 * batch * count_products(side, window, stride) ** 2 * w.shape[2] * outputs
    if by == "result":
        return make_case(lambda params, x, w: convolution(x, w), (x, w), flops)
    like, other = (x.shape, w) if by == "inputs" else (w.shape, x)
    return make_case(transposed(convolution, by, like), (other, g), flops)


def upsample(batch, side, inputs, outputs, window, stride):
    """A layer of a generator: each pixel becomes stride × stride."""
    x = normal(batch, side, side, inputs)
    w = normal(window, window, inputs, outputs, scale=0.05)

    def function(params, x, w):
        return lax.conv_transpose(x, w, (stride, stride), "SAME", dimension_numbers=CHANNELS_LAST)

    flops = 2.0 * batch * count_products(side * stride, window, stride) ** 2 * inputs * outputs
    return make_case(function, (x, w), flops)


BOTTLENECKS = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))


def resnet50_params(classes):
    params = {"stem": normal(7, 7, 3, 64, scale=0.08)}
    norms = {"stem": 64}
    channels = 64
    for stage, (width, blocks, _) in enumerate(BOTTLENECKS):
        for block in range(blocks):
            name = f"{stage}{block}"
            parts = [
                ("a", 1, channels, width),
                ("b", 3, width, width),
                ("c", 1, width, 4 * width),
            ]
            if block == 0:
                parts.append(("p", 1, channels, 4 * width))
            for part, window, inputs, outputs in parts:
                scale = (2 / (window * window * inputs)) ** 0.5
                params[name + part] = normal(
                    window, window, inputs, outputs, scale=scale, seed=block
                )
                norms[name + part] = outputs
            channels = 4 * width
    for name, size in norms.items():
        # The last one of a block begins small, so that blocks begin as their shortcuts.
        params[name + "_scale"] = np.full(size, 0.2 if name.endswith("c") else 1.0, np.float32)
        params[name + "_bias"] = np.zeros(size, np.float32)
    params["fc"] = normal(channels, classes, scale=0.02)
    params["fc_bias"] = np.zeros(classes, np.float32)
    return params


def run_resnet50(params, x):
    """Logits, and the mean and the variance of each normalization's batch."""
    moments = {}

    def layer(x, name, stride=1):
        y = convolve(x, params[name], stride)
        mean = y.mean((0, 1, 2))
        variance = jnp.maximum((y * y).mean((0, 1, 2)) - mean * mean, 0)
        moments[name] = mean, variance
        factor = lax.rsqrt(variance + 1e-5) * params[name + "_scale"]
        return (y - mean) * factor + params[name + "_bias"]

    x = jax.nn.relu(layer(x, "stem", 2))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    for stage, (_, blocks, stride) in enumerate(BOTTLENECKS):
        for block in range(blocks):
            name, step = f"{stage}{block}", stride if block == 0 else 1
            y = jax.nn.relu(layer(x, name + "a"))
            y = jax.nn.relu(layer(y, name + "b", step))
            y = layer(y, name + "c")
            short = layer(x, name + "p", step) if block == 0 else x
            x = jax.nn.relu(short + y)
    return x.mean((1, 2)) @ params["fc"] + params["fc_bias"], moments


def count_resnet50(batch, side, classes):
    """Operations of products: forward, by weights, and by inputs, but of the image."""
    total = 0.0

    def count(side, window, inputs, outputs, stride=1, times=3):
        nonlocal total
        pairs = count_products(side, window, stride) ** 2
        total += times * 2.0 * batch * pairs * inputs * outputs
        return -(-side // stride)

    side = -(-count(side, 7, 3, 64, 2, times=2) // 2)
    channels = 64
    for width, blocks, stride in BOTTLENECKS:
        for block in range(blocks):
            step = stride if block == 0 else 1
            if block == 0:
                count(side, 1, channels, 4 * width, step)
            count(side, 1, channels, width)
            side = count(side, 3, width, width, step)
            count(side, 1, width, 4 * width)
            channels = 4 * width
    return total + 3 * 2.0 * batch * channels * classes


def resnet50_step(batch, side, classes):
    """SGD with momentum, running averages of the normalizations' moments."""
    names, values = zip(*resnet50_params(classes).items(), strict=True)
    x = normal(batch, side, side, 3)
    labels = np.random.default_rng(0).integers(0, classes, batch).astype(np.int32)
    velocities = tuple(np.zeros_like(value) for value in values)
    norms = [name for name in names if name + "_scale" in names]
    sizes = dict(zip(names, (value.shape[-1] for value in values), strict=True))
    averages = tuple(
        np.full(sizes[name], start, np.float32) for name in norms for start in (0, 1)
    )  # fmt: skip

    count = len(values)

    def function(constants, x, labels, *given):
        params, velocities, averages = given[:count], given[count : 2 * count], given[2 * count :]

        def loss(params):
            logits, moments = run_resnet50(params, x)
            chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
            return -chosen.mean(), moments

        params = dict(zip(names, params, strict=True))
        (value, moments), gradients = jax.value_and_grad(loss, has_aux=True)(params)
        velocities = [0.9 * v + gradients[n] for n, v in zip(names, velocities, strict=True)]
        new = [m for name in norms for m in moments[name]]
        return (
            value,
            *(params[n] - 0.1 * v for n, v in zip(names, velocities, strict=True)),
            *velocities,
            *(0.9 * old + 0.1 * m for old, m in zip(averages, new, strict=True)),
        )

    given = (x, labels, *values, *velocities, *averages)
    work = Work(count_resnet50(batch, side, classes), nbytes(*given), nbytes(*given[2:]))
    # Sums beside zero pass a ReLU or not: in f32, XLA's gradients too are up to 0.04 off.
    return Case(function, given, work, tolerance=0.2)


ROWS = [
    Row(
        "conv-inputs-3x3",
        "gradient by inputs, 2×56×56×128←128, 3×3, stride 2",
        gradient,
        ("inputs", 2, 56, 128, 128, 3, 2),
        ("inputs", 2, 55, 61, 67, 3, 2),
    ),
    Row(
        "conv-inputs-1x1",
        "gradient by inputs, 2×56×56×256←512, 1×1, stride 2",
        gradient,
        ("inputs", 2, 56, 256, 512, 1, 2),
        ("inputs", 2, 55, 253, 509, 1, 2),
    ),
    Row(
        "conv-inputs-7x7",
        "gradient by inputs, 2×224×224×3←64, 7×7, stride 2",
        gradient,
        ("inputs", 2, 224, 3, 64, 7, 2),
        ("inputs", 2, 219, 3, 61, 7, 2),
    ),
    Row(
        "conv-weights-3x3",
        "gradient by weights, 2×56×56×128→128, 3×3, stride 2",
        gradient,
        ("weights", 2, 56, 128, 128, 3, 2),
        ("weights", 2, 55, 61, 67, 3, 2),
    ),
    Row(
        "depthwise",
        "depthwise convolution 2×56×56×128, 3×3",
        gradient,
        ("result", 2, 56, 128, 128, 3, 1, True),
        ("result", 2, 55, 61, 61, 3, 1, True),
    ),
    Row(
        "depthwise-inputs",
        "its gradient by inputs, stride 2",
        gradient,
        ("inputs", 2, 56, 128, 128, 3, 2, True),
        ("inputs", 2, 55, 61, 61, 3, 2, True),
    ),
    Row(
        "depthwise-weights",
        "its gradient by weights, stride 1",
        gradient,
        ("weights", 2, 56, 128, 128, 3, 1, True),
        ("weights", 2, 55, 61, 61, 3, 1, True),
    ),
    Row(
        "conv-transpose",
        "transposed convolution 2×16×16×256→128, 4×4, stride 2",
        upsample,
        (2, 16, 256, 128, 4, 2),
        (2, 15, 251, 131, 5, 3),
    ),
    Row(
        "conv-transpose-few",
        "transposed convolution 2×64×64×64→3, 4×4, stride 2",
        upsample,
        (2, 64, 64, 3, 4, 2),
        (2, 61, 61, 3, 5, 3),
    ),
    Row(
        "resnet50-step",
        "ResNet-50's SGD step, 2 images of 224×224",
        resnet50_step,
        (2, 224, 1000),
        (2, 219, 997),
    ),
]
