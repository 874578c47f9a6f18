"""One row of bench.gpu, in a process of its own: prints a JSON object.

  gpu_rows.py ROW [--small]

JAX's default platform runs it: alula_cuda, or cuda for what we are compared with.
"""

import argparse
import ctypes
import ctypes.util
import json
import time

import jax
import jax.numpy as jnp
import numpy as np

ROWS = {}
TOTAL_SECONDS = 3.0


def row(function):
    ROWS[function.__name__] = function
    return function


def random(shape, dtype, seed=0):
    values = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    return jax.device_put((values / np.sqrt(shape[-1])).astype(dtype))


def measure(function, *arguments) -> dict:
    """Seconds of a call, those of a batch that is waited for once; the first batch is
    not counted."""
    started = time.perf_counter()
    result = jax.block_until_ready(function(*arguments))
    first = time.perf_counter() - started

    def batch(count):
        started = time.perf_counter()
        for _ in range(count):
            result = function(*arguments)
        jax.block_until_ready(result)
        return (time.perf_counter() - started) / count

    once = batch(1)
    count = int(min(max(0.2 / max(once, 1e-9), 1), 200))
    times = [batch(count)]
    while sum(times) * count < TOTAL_SECONDS and len(times) < 11:
        times.append(batch(count))
    times.sort()
    return {
        "seconds": times[0],
        "median_seconds": times[len(times) // 2],
        "first_call_seconds": first,
        "result": result,
    }


def check(result, expected, tolerance) -> None:
    """Numbers that are wrong are no figure."""
    got = np.asarray(result).astype(np.float64)
    error = np.max(np.abs(got - expected)) / max(np.max(np.abs(expected)), 1e-30)
    if not error <= tolerance:
        raise ValueError(f"wrong numbers: {error:.3g} of the largest, allowed are {tolerance:.3g}")


class Driver:
    """CUDA's driver in this process, whose primary context JAX uses too."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        find = self.library.cuGetProcAddress_v2
        find.argtypes = [
            ctypes.c_char_p,
            ctypes.POINTER(ctypes.c_void_p),
            ctypes.c_int,
            ctypes.c_uint64,
            ctypes.POINTER(ctypes.c_int),
        ]
        self.find = find
        self.call("cuInit", ctypes.c_uint(0))
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), ctypes.c_int(0))
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxPushCurrent", context)
        self.stream = ctypes.c_void_p()
        self.call("cuStreamCreate", ctypes.byref(self.stream), ctypes.c_uint(1))

    def call(self, name, *arguments):
        address, found = ctypes.c_void_p(), ctypes.c_int()
        self.find(name.encode(), ctypes.byref(address), 12040, 0, ctypes.byref(found))
        if not address:
            raise OSError(f"the driver has no {name}")
        types = [
            ctypes.c_void_p if not isinstance(each, ctypes._SimpleCData) else type(each)
            for each in arguments
        ]
        result = ctypes.CFUNCTYPE(ctypes.c_int, *types)(address.value)(*arguments)
        if result:
            raise OSError(f"{name} gave {result}")

    def wait(self):
        self.call("cuStreamSynchronize", self.stream)


def address(array) -> ctypes.c_uint64:
    return ctypes.c_uint64(array.unsafe_buffer_pointer())


def time_batches(launch, wait, count) -> float:
    launch()
    wait()
    best = float("inf")
    for _ in range(5):
        started = time.perf_counter()
        for _ in range(count):
            launch()
        wait()
        best = min(best, (time.perf_counter() - started) / count)
    return best


@row
def copy(small):
    """The driver's own copy: what rows that are bound by memory are measured against."""
    count = 1 << 10 if small else 1 << 28
    from_array, to_array = jnp.ones(count, jnp.float32), jnp.zeros(count, jnp.float32)
    jax.block_until_ready((from_array, to_array))
    driver = Driver()
    arguments = address(to_array), address(from_array), ctypes.c_size_t(4 * count)
    seconds = time_batches(
        lambda: driver.call("cuMemcpyAsync", *arguments, driver.stream), driver.wait, 10
    )
    check(to_array, 1.0, 0)
    return {"seconds": seconds, "bytes": 8 * count}


def product_size(small):
    return 256 if small else 8192


@row
def product_bf16(small):
    n = product_size(small)
    a, b = random((n, n), jnp.bfloat16), random((n, n), jnp.bfloat16, 1)
    found = measure(jax.jit(jnp.matmul), a, b)
    rows = np.asarray(a[:4]).astype(np.float64) @ np.asarray(b).astype(np.float64)
    check(found["result"][:4], rows, 2**-7)
    return found | {"flops": 2 * n**3}


@row
def product_cublas(small):
    """The same product by cuBLAS, if the machine has it."""
    names = [f"libcublas.so.{major}" for major in (13, 12, 11)]
    library = None
    for name in [*names, ctypes.util.find_library("cublas")]:
        try:
            library = library or (name and ctypes.CDLL(name))
        except OSError:
            continue
    if not library:
        return {"unable": "no libcublas on this machine"}
    n = product_size(small)
    a, b = random((n, n), jnp.bfloat16), random((n, n), jnp.bfloat16, 1)
    c = jnp.zeros((n, n), jnp.bfloat16)
    jax.block_until_ready((a, b, c))
    driver = Driver()
    handle = ctypes.c_void_p()

    def call(name, *arguments):
        if result := getattr(library, name)(*arguments):
            raise OSError(f"{name} gave {result}")

    call("cublasCreate_v2", ctypes.byref(handle))
    call("cublasSetStream_v2", handle, driver.stream)
    one, zero = ctypes.c_float(1), ctypes.c_float(0)
    bf16, by_f32, fastest = 14, 68, -1

    def launch():
        # By columns: the product of b and a, from the right.
        size = ctypes.c_int(n)
        call(
            "cublasGemmEx", handle, 0, 0, size, size, size, ctypes.byref(one),
            address(b), bf16, size, address(a), bf16, size, ctypes.byref(zero),
            address(c), bf16, size, by_f32, fastest,
        )  # fmt: skip

    seconds = time_batches(launch, driver.wait, 10)
    check(c[:4], np.asarray(a[:4]).astype(np.float64) @ np.asarray(b).astype(np.float64), 2**-7)
    return {"seconds": seconds, "flops": 2 * n**3}


@row
def product_torch(small):
    """The same product by PyTorch, if the machine has it."""
    try:
        import torch
    except ImportError:
        return {"unable": "no torch on this machine"}
    if not torch.cuda.is_available():
        return {"unable": "torch finds no GPU"}
    n = product_size(small)
    a, b = (torch.randn(n, n, dtype=torch.bfloat16, device="cuda") for _ in range(2))
    seconds = time_batches(lambda: a @ b, torch.cuda.synchronize, 10)
    return {"seconds": seconds, "flops": 2 * n**3}


def matrix_shape(small):
    return (16, 64) if small else (16384, 8192)


def bound_by_memory(small, function, expected, reads=1, writes=1):
    shape = matrix_shape(small)
    x = random(shape, jnp.float32)
    found = measure(jax.jit(function), x)
    wanted = expected(np.asarray(x[:8]).astype(np.float64))
    if np.shape(found["result"])[:1] == shape[:1]:
        check(found["result"][:8], wanted, 1e-4)
    return found | {"bytes": int(4 * np.prod(shape)) * (reads + writes)}


@row
def add_one(small):
    return bound_by_memory(small, lambda x: x + 1, lambda x: x + 1)


@row
def softmax(small):
    def expected(x):
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    return bound_by_memory(small, lambda x: jax.nn.softmax(x, axis=-1), expected)


def normalize(x):
    centred = x - x.mean(-1, keepdims=True)
    variance = (centred * centred).mean(-1, keepdims=True)
    return centred / (variance + 1e-5) ** 0.5


@row
def layer_norm(small):
    return bound_by_memory(small, normalize, normalize)


@row
def sum_of_rows(small):
    return bound_by_memory(small, lambda x: x.sum(-1), lambda x: x.sum(-1), writes=0)


@row
def attention(small):
    batch, heads, length, head = (1, 2, 32, 16) if small else (4, 16, 4096, 128)
    shape = (batch, heads, length, head)
    q, k, v = (random(shape, jnp.bfloat16, seed) for seed in range(3))

    def attend(q, k, v):
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k, preferred_element_type=jnp.float32)
        weights = jax.nn.softmax(scores / head**0.5, axis=-1).astype(jnp.bfloat16)
        return jnp.einsum("bhqk,bhkd->bhqd", weights, v)

    found = measure(jax.jit(attend), q, k, v)
    wide = [np.asarray(x[0, 0]).astype(np.float64) for x in (q, k, v)]
    weights = np.exp(wide[0][:4] @ wide[1].T / head**0.5)
    check(found["result"][0, 0, :4], weights / weights.sum(-1, keepdims=True) @ wide[2], 3e-2)
    return found | {"flops": 4 * batch * heads * length**2 * head}


@row
def decode(small):
    """One token of a model with 1e9 weights: a step of each layer on one vector."""
    layers, width = (2, 64) if small else (20, 2048)
    shapes = {"qkv": 3 * width, "out": width, "up": 4 * width}
    weights = {
        name: random((layers, width, size), jnp.bfloat16, seed)
        for seed, (name, size) in enumerate(shapes.items())
    } | {"down": random((layers, 4 * width, width), jnp.bfloat16, 3)}

    def layer(x, w):
        q, k, v = jnp.split(normalize(x) @ w["qkv"], 3, axis=-1)
        x = x + (jax.nn.sigmoid(q * k) * v) @ w["out"]
        return x + jax.nn.gelu(normalize(x) @ w["up"]) @ w["down"], None

    def step(x, weights):
        return jax.lax.scan(layer, x, weights)[0]

    found = measure(jax.jit(step), jnp.ones((1, width), jnp.bfloat16), weights)
    if not np.isfinite(np.asarray(found["result"]).astype(np.float32)).all():
        raise ValueError("wrong numbers: some are not finite")
    return found | {"bytes": sum(int(w.nbytes) for w in weights.values())}


@row
def training_step(small):
    batch, length, width, heads = (1, 16, 32, 2) if small else (8, 1024, 768, 12)
    sizes = {"qkv": (width, 3 * width), "out": (width, width)}
    sizes |= {"up": (width, 4 * width), "down": (4 * width, width)}
    weights = {
        name: random(size, jnp.float32, seed) for seed, (name, size) in enumerate(sizes.items())
    }
    x = random((batch, length, width), jnp.float32, 9)

    def split(y):
        return y.reshape(batch, length, heads, -1).transpose(0, 2, 1, 3)

    def block(w, x):
        q, k, v = (split(y) for y in jnp.split(normalize(x) @ w["qkv"], 3, axis=-1))
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / (width // heads) ** 0.5
        mask = jnp.tril(jnp.ones((length, length), bool))
        y = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(jnp.where(mask, scores, -1e9)), v)
        x = x + y.transpose(0, 2, 1, 3).reshape(x.shape) @ w["out"]
        return x + jax.nn.gelu(normalize(x) @ w["up"]) @ w["down"]

    @jax.jit
    def step(w, x):
        slope = jax.grad(lambda w: (block(w, x) ** 2).mean())(w)
        return jax.tree.map(lambda each, change: each - 0.1 * change, w, slope)

    found = measure(step, weights, x)
    if not all(np.isfinite(np.asarray(each)).all() for each in found["result"].values()):
        raise ValueError("wrong numbers: some are not finite")
    products = sum(int(np.prod(size)) for size in sizes.values())
    flops = batch * length * (6 * products + 12 * length * width)
    return found | {"flops": flops}


def main() -> None:
    global TOTAL_SECONDS
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("row", choices=ROWS)
    parser.add_argument("--small", action="store_true", help="sizes of an interpreter")
    options = parser.parse_args()
    if options.small:
        TOTAL_SECONDS = 0
    found = ROWS[options.row](options.small)
    found.pop("result", None)
    if "seconds" in found:
        found["platform"] = jax.default_backend()
        if "flops" in found:
            found["tflops"] = found["flops"] / found["seconds"] / 1e12
        if "bytes" in found:
            found["gb_per_second"] = found["bytes"] / found["seconds"] / 1e9
    print(json.dumps(found))


if __name__ == "__main__":
    main()
