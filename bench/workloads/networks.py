"""A perceptron, a convolution and ResNet-18."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bench.case import Case, Row, Work, nbytes, normal

CHANNELS_LAST = ("NHWC", "HWIO", "NHWC")


def mlp_params(sizes):
    params = {}
    for i, (k, n) in enumerate(itertools.pairwise(sizes)):
        params[f"w{i}"] = normal(k, n, scale=k**-0.5, seed=i)
        params[f"b{i}"] = normal(n, scale=0.1, seed=i)
    return params


def mlp_flops(batch, sizes):
    return 2.0 * batch * sum(k * n for k, n in itertools.pairwise(sizes))


def run_mlp(xp, params, x):
    layers = len(params) // 2
    for i in range(layers):
        x = x @ params[f"w{i}"] + params[f"b{i}"]
        if i + 1 < layers:
            x = xp.maximum(x, 0)
    return x


def mlp(batch, *sizes):
    params, x = mlp_params(sizes), normal(batch, sizes[0])

    def onnx(graph, params, x):
        name, layers = graph.input(x), len(params) // 2
        for i in range(layers):
            weights = [graph.constant(params[f"{kind}{i}"]) for kind in "wb"]
            name = graph.add("Gemm", name, *weights)
            if i + 1 < layers:
                name = graph.add("Relu", name)
        graph.output(name)

    work = Work(mlp_flops(batch, sizes), nbytes(x, *params.values()), 4 * batch * sizes[-1])
    return Case(
        lambda params, x: run_mlp(jnp, params, x),
        (x,),
        work,
        params,
        numpy=lambda params, x: run_mlp(np, params, x),
        onnx=onnx,
    )


def mlp_step(batch, *sizes):
    names, values = zip(*mlp_params(sizes).items(), strict=True)
    x = normal(batch, sizes[0])
    labels = np.random.default_rng(0).integers(0, sizes[-1], batch).astype(np.int32)

    def function(constants, x, labels, *values):
        def loss(params):
            logits = run_mlp(jnp, params, x)
            chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
            return -chosen.mean()

        params = dict(zip(names, values, strict=True))
        value, gradients = jax.value_and_grad(loss)(params)
        return value, *(params[n] - 0.1 * gradients[n] for n in names)

    # Forward, and backward twice, less the gradient of the first input.
    flops = 3 * mlp_flops(batch, sizes) - 2.0 * batch * sizes[0] * sizes[1]
    work = Work(flops, nbytes(x, *values), nbytes(*values))
    return Case(function, (x, labels, *values), work)


def convolve(x, kernel, stride=1):
    strides = (stride, stride)
    return lax.conv_general_dilated(x, kernel, strides, "SAME", dimension_numbers=CHANNELS_LAST)


def onnx_convolve(graph, name, kernel, stride=1):
    """In its own order, channels first; "SAME" pads below where it is odd."""
    weights = graph.constant(kernel.transpose(3, 2, 0, 1).copy())
    return graph.add("Conv", name, weights, strides=[stride, stride], auto_pad="SAME_UPPER")


def conv_flops(height, width, kernel, stride=1):
    pixels = -(-height // stride) * -(-width // stride)
    return 2.0 * pixels * kernel.size


def convolution(height, width, inputs, outputs, window):
    x = normal(1, height, width, inputs)
    kernel = normal(window, window, inputs, outputs, scale=0.05)

    def onnx(graph, params, x):
        name = graph.input(x.transpose(0, 3, 1, 2).copy())
        name = onnx_convolve(graph, name, params["kernel"])
        graph.output(name, permutation=(0, 2, 3, 1))

    flops = conv_flops(height, width, kernel)
    work = Work(flops, nbytes(x, kernel), 4 * height * width * outputs)
    return Case(
        lambda params, x: convolve(x, params["kernel"]),
        (x,),
        work,
        {"kernel": kernel},
        onnx=onnx,
    )


STAGES = ((64, 1), (128, 2), (256, 2), (512, 2))


def resnet_params(classes):
    """Normalisation is folded into the kernels and biases, as for inference."""
    params = {"stem": normal(7, 7, 3, 64, scale=0.08)}
    params["stem_bias"] = normal(64, scale=0.1)
    channels = 64
    for stage, (wide, _) in enumerate(STAGES):
        for block in range(2):
            name = f"{stage}{block}"
            for part, inputs in (("a", channels), ("b", wide)):
                scale = (9 * inputs) ** -0.5
                params[name + part] = normal(3, 3, inputs, wide, scale=scale, seed=block)
                params[name + part + "_bias"] = normal(wide, scale=0.1, seed=block)
            if channels != wide:
                params[name + "p"] = normal(1, 1, channels, wide, scale=channels**-0.5)
                params[name + "p_bias"] = normal(wide, scale=0.1)
            channels = wide
    params["fc"] = normal(512, classes, scale=0.04)
    params["fc_bias"] = normal(classes, scale=0.1)
    return params


def run_resnet(params, x, conv, relu, add, pool, head):
    """The network, in the words of whoever builds it."""
    x = pool(relu(conv(x, "stem", 2)))
    for stage, (_, stride) in enumerate(STAGES):
        for block in range(2):
            name = f"{stage}{block}"
            step = stride if block == 0 else 1
            y = conv(relu(conv(x, name + "a", step)), name + "b", 1)
            short = conv(x, name + "p", step) if name + "p" in params else x
            x = relu(add(y, short))
    return head(x)


def resnet18(image, classes):
    params, x = resnet_params(classes), normal(1, image, image, 3)

    def function(params, x):
        return run_resnet(
            params,
            x,
            lambda x, name, stride: convolve(x, params[name], stride) + params[name + "_bias"],
            jax.nn.relu,
            lambda a, b: a + b,
            lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"),
            lambda x: x.mean((1, 2)) @ params["fc"] + params["fc_bias"],
        )

    def onnx(graph, params, x):
        def conv(name, weights, stride):
            kernel = graph.constant(params[weights].transpose(3, 2, 0, 1).copy())
            bias = graph.constant(params[weights + "_bias"])
            how = {"strides": [stride, stride], "auto_pad": "SAME_UPPER"}
            return graph.add("Conv", name, kernel, bias, **how)

        def head(name):
            flat = graph.add("Flatten", graph.add("GlobalAveragePool", name))
            weights = graph.constant(params["fc"]), graph.constant(params["fc_bias"])
            return graph.add("Gemm", flat, *weights)

        def pool(name):
            how = {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"}
            return graph.add("MaxPool", name, **how)

        def relu(name):
            return graph.add("Relu", name)

        def add(a, b):
            return graph.add("Add", a, b)

        name = graph.input(x.transpose(0, 3, 1, 2).copy())
        graph.output(run_resnet(params, name, conv, relu, add, pool, head))

    flops = 0.0

    def count(side, name, stride):
        nonlocal flops
        flops += conv_flops(side, side, params[name], stride)
        return -(-side // stride)

    run_resnet(
        params,
        image,
        count,
        lambda side: side,
        lambda a, b: a,
        lambda side: -(-side // 2),
        lambda side: side,
    )
    flops += 2.0 * params["fc"].size
    work = Work(flops, nbytes(x, *params.values()), 4 * classes)
    return Case(function, (x,), work, params, onnx=onnx)


SIZES, ODD_SIZES = (784, 512, 512, 10), (781, 509, 509, 11)
ROWS = [
    Row("mlp-1", "MLP 784-512-512-10, batch 1", mlp, (1, *SIZES), (1, *ODD_SIZES)),
    Row("mlp-128", "the same MLP, batch 128", mlp, (128, *SIZES), (127, *ODD_SIZES)),
    Row("mlp-step", "the MLP's SGD step, batch 128", mlp_step, (128, *SIZES), (127, *ODD_SIZES)),
    Row(
        "conv3x3",
        "convolution 56×56×64→64, 3×3",
        convolution,
        (56, 56, 64, 64, 3),
        (55, 53, 61, 67, 3),
    ),
    Row("resnet18", "ResNet-18, batch 1", resnet18, (224, 1000), (219, 997)),
]
