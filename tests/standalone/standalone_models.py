"""The programs that code without a runtime is tested with: as StableHLO, with weights of their own."""

import numpy as np

NAMES = {"float32": "f32", "float16": "f16", "int8": "i8", "int32": "i32"}


def make_type(array):
    return "tensor<" + "x".join([*map(str, array.shape), NAMES[array.dtype.name]]) + ">"


def constant(name, array):
    data = f'"0x{array.tobytes().hex().upper()}"'
    return f"    {name} = stablehlo.constant dense<{data}> : {make_type(array)}\n"


def make_dense(inputs=16, hidden=24, outputs=10, dtype="float32", batch=1):
    """relu(x w + b) v + c."""
    random = np.random.RandomState(1)
    element = NAMES[dtype]
    arrays = {
        "%w": random.randn(inputs, hidden),
        "%b": random.randn(hidden),
        "%v": random.randn(hidden, outputs),
        "%c": random.randn(outputs),
    }
    x, h, y = (f"tensor<{batch}x{n}x{element}>" for n in (inputs, hidden, outputs))
    text = f"""func.func @main(%x: {x}) -> {y} {{
"""
    for name, array in arrays.items():
        text += constant(name, array.astype(dtype))
    return (
        text
        + f"""    %zero = stablehlo.constant dense<0.0> : {h}
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ({x}, tensor<{inputs}x{hidden}x{element}>) -> {h}
    %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<{hidden}x{element}>) -> {h}
    %2 = stablehlo.add %0, %1 : {h}
    %3 = stablehlo.maximum %2, %zero : {h}
    %4 = stablehlo.dot_general %3, %v, contracting_dims = [1] x [0] : ({h}, tensor<{hidden}x{outputs}x{element}>) -> {y}
    %5 = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<{outputs}x{element}>) -> {y}
    %6 = stablehlo.add %4, %5 : {y}
    return %6 : {y}
}}
"""
    )


def make_softmax(rows, columns, value, result):
    """Lines that divide exp(x - max) by its sum along rows."""
    t, r = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}xf32>"
    return f"""    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %max = stablehlo.reduce({value} init: %low) applies stablehlo.maximum across dimensions = [1] : ({t}, tensor<f32>) -> {r}
    %maxes = stablehlo.broadcast_in_dim %max, dims = [0] : ({r}) -> {t}
    %less = stablehlo.subtract {value}, %maxes : {t}
    %exp = stablehlo.exponential %less : {t}
    %sum = stablehlo.reduce(%exp init: %none) applies stablehlo.add across dimensions = [1] : ({t}, tensor<f32>) -> {r}
    %sums = stablehlo.broadcast_in_dim %sum, dims = [0] : ({r}) -> {t}
    {result} = stablehlo.divide %exp, %sums : {t}
"""


def make_softmax_program():
    return (
        "func.func @main(%x: tensor<4x33xf32>) -> tensor<4x33xf32> {\n"
        + make_softmax(4, 33, "%x", "%y")
        + "    return %y : tensor<4x33xf32>\n}\n"
    )


def make_conv():
    """Two convolutions with relu, the largest of each 2 × 2, a product: 28 × 28 to 10."""
    random = np.random.RandomState(2)
    arrays = {
        "%k1": 0.3 * random.randn(3, 3, 1, 8),
        "%k2": 0.1 * random.randn(3, 3, 8, 16),
        "%w": 0.05 * random.randn(7 * 7 * 16, 10),
    }
    text = "func.func @main(%x: tensor<1x28x28x1xf32>) -> tensor<1x10xf32> {\n"
    for name, array in arrays.items():
        text += constant(name, array.astype(np.float32))
    text += "    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"
    for i, (size, inputs, outputs) in enumerate([(28, 1, 8), (14, 8, 16)], 1):
        source = "%x" if i == 1 else "%p1"
        big = f"tensor<1x{size}x{size}x{outputs}xf32>"
        small = f"tensor<1x{size // 2}x{size // 2}x{outputs}xf32>"
        text += f"""    %zero{i} = stablehlo.constant dense<0.0> : {big}
    %c{i} = stablehlo.convolution({source}, %k{i}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{pad = [[1, 1], [1, 1]]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : (tensor<1x{size}x{size}x{inputs}xf32>, tensor<3x3x{inputs}x{outputs}xf32>) -> {big}
    %r{i} = stablehlo.maximum %c{i}, %zero{i} : {big}
    %p{i} = "stablehlo.reduce_window"(%r{i}, %low) ({{
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }}) {{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}} : ({big}, tensor<f32>) -> {small}
"""
    return (
        text
        + """    %f = stablehlo.reshape %p2 : (tensor<1x7x7x16xf32>) -> tensor<1x784xf32>
    %y = stablehlo.dot_general %f, %w, contracting_dims = [1] x [0] : (tensor<1x784xf32>, tensor<784x10xf32>) -> tensor<1x10xf32>
    return %y : tensor<1x10xf32>
}
"""
    )


def make_lstm(inputs=8, units=12):
    """A cell whose h and c stay from call to call."""
    random = np.random.RandomState(3)
    w = (0.4 * random.randn(inputs + units, 4 * units)).astype(np.float32)
    b = random.randn(4 * units).astype(np.float32)
    x, h, g = (f"tensor<1x{n}xf32>" for n in (inputs, units, 4 * units))
    both = f"tensor<1x{inputs + units}xf32>"
    text = f"""ml_program.global private mutable @h(dense<0.0> : {h}) : {h}
ml_program.global private mutable @c(dense<0.25> : {h}) : {h}
func.func @main(%x: {x}) -> {h} {{
    %h = ml_program.global_load @h : {h}
    %c = ml_program.global_load @c : {h}
{constant("%w", w)}{constant("%b", b)}    %xh = stablehlo.concatenate %x, %h, dim = 1 : ({x}, {h}) -> {both}
    %0 = stablehlo.dot_general %xh, %w, contracting_dims = [1] x [0] : ({both}, {make_type(w)}) -> {g}
    %1 = stablehlo.broadcast_in_dim %b, dims = [1] : ({make_type(b)}) -> {g}
    %gates = stablehlo.add %0, %1 : {g}
"""
    for i, (name, function) in enumerate(
        [("i", "logistic"), ("f", "logistic"), ("o", "logistic"), ("g", "tanh")]
    ):
        text += f"""    %{name}0 = stablehlo.slice %gates [0:1, {i * units}:{(i + 1) * units}] : ({g}) -> {h}
    %{name} = stablehlo.{function} %{name}0 : {h}
"""
    return (
        text
        + f"""    %fc = stablehlo.multiply %f, %c : {h}
    %ig = stablehlo.multiply %i, %g : {h}
    %c1 = stablehlo.add %fc, %ig : {h}
    %t = stablehlo.tanh %c1 : {h}
    %h1 = stablehlo.multiply %o, %t : {h}
    ml_program.global_store @h = %h1 : {h}
    ml_program.global_store @c = %c1 : {h}
    return %h1 : {h}
}}
"""
    )


def make_int8(inputs=64, outputs=32):
    """Bytes times bytes in 32 bits, scaled, rounded and clamped to bytes."""
    random = np.random.RandomState(4)
    w = random.randint(-127, 128, (inputs, outputs)).astype(np.int8)
    b = random.randint(-5000, 5000, (outputs,)).astype(np.int32)
    x, i, f = (
        f"tensor<1x{inputs}xi8>",
        f"tensor<1x{outputs}xi32>",
        f"tensor<1x{outputs}xf32>",
    )
    return f"""func.func @main(%x: {x}) -> tensor<1x{outputs}xi8> {{
{constant("%w", w)}{constant("%b", b)}    %scale = stablehlo.constant dense<0.0013> : {f}
    %low = stablehlo.constant dense<-128.0> : {f}
    %high = stablehlo.constant dense<127.0> : {f}
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ({x}, {make_type(w)}) -> {i}
    %1 = stablehlo.broadcast_in_dim %b, dims = [1] : ({make_type(b)}) -> {i}
    %2 = stablehlo.add %0, %1 : {i}
    %3 = stablehlo.convert %2 : ({i}) -> {f}
    %4 = stablehlo.multiply %3, %scale : {f}
    %5 = stablehlo.round_nearest_even %4 : {f}
    %6 = stablehlo.clamp %low, %5, %high : {f}
    %7 = stablehlo.convert %6 : ({f}) -> tensor<1x{outputs}xi8>
    return %7 : tensor<1x{outputs}xi8>
}}
"""


def make_digits():
    """The demo's model with other weights: 64, 128, 64, 10 and a softmax, 4 images at a time."""
    random = np.random.RandomState(5)
    sizes, batch = [64, 128, 64, 10], 4
    text = f"func.func @main(%x: tensor<{batch}x64xf32>) -> tensor<{batch}x10xf32> {{\n"
    value = "%x"
    for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
        w = (random.randn(a, b) * np.sqrt(2 / a)).astype(np.float32)
        bias = (0.1 * random.randn(b)).astype(np.float32)
        t = f"tensor<{batch}x{b}xf32>"
        text += constant(f"%w{i}", w) + constant(f"%b{i}", bias)
        text += f"""    %d{i} = stablehlo.dot_general {value}, %w{i}, contracting_dims = [1] x [0] : (tensor<{batch}x{a}xf32>, {make_type(w)}) -> {t}
    %bb{i} = stablehlo.broadcast_in_dim %b{i}, dims = [1] : ({make_type(bias)}) -> {t}
    %s{i} = stablehlo.add %d{i}, %bb{i} : {t}
"""
        value = f"%s{i}"
        if i < 2:
            text += f"""    %z{i} = stablehlo.constant dense<0.0> : {t}
    %r{i} = stablehlo.maximum %s{i}, %z{i} : {t}
"""
            value = f"%r{i}"
    return (
        text
        + make_softmax(batch, 10, value, "%y")
        + f"    return %y : tensor<{batch}x10xf32>\n}}\n"
    )


MODELS = {
    "dense": make_dense(),
    "softmax": make_softmax_program(),
    "conv": make_conv(),
    "lstm": make_lstm(),
    "int8": make_int8(),
    "f16": make_dense(dtype="float16"),
    "digits": make_digits(),
}
# The shape and the type of what each takes.
INPUTS = {
    "dense": ((1, 16), "float32"),
    "softmax": ((4, 33), "float32"),
    "conv": ((1, 28, 28, 1), "float32"),
    "lstm": ((1, 8), "float32"),
    "int8": ((1, 64), "int8"),
    "f16": ((1, 16), "float16"),
    "digits": ((4, 64), "float32"),
}


def make_input(model, seed):
    shape, dtype = INPUTS[model]
    random = np.random.RandomState(seed)
    if dtype == "int8":
        return random.randint(-128, 128, shape).astype(np.int8)
    return random.uniform(-2, 2, shape).astype(dtype)
