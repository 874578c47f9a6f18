"""Products of a transformer by cuBLASLt and attention by cuDNN, on the driver that interprets PTX and
libraries that check what they are told: taken, declined, crashed, hung, wrong, missing; in graphs."""

import ctypes
import itertools
import json
import os
import subprocess
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import fake_gpu
import pytest

sys.path[:0] = [str(fake_gpu.ROOT / "tests/native"), str(fake_gpu.ROOT / "tests/jax")]

import alula_library
import jax
import numpy as np
from jax import numpy as jnp

LIBRARIES = fake_gpu.BUILD / "tests/fake_libraries"
pytestmark = [
    fake_gpu.needs_build,
    pytest.mark.skipif(
        not all((LIBRARIES / name).exists() for name in ("libcublasLt.so.13", "libcudnn.so.9")),
        reason="the libraries for tests are not built",
    ),
]

BIN = fake_gpu.BUILD / "bin"
OFFER = "--preprocess-executables-with=offer:dot:cublaslt"
OFFER_ATTENTION = "--preprocess-executables-with=offer:attention:cudnn"
LENGTH, WIDTH, HEADS = 24, 32, 2


def environment(mode="", libraries=True):
    """Of a process whose GPU and libraries are the fake ones."""
    result = os.environ | fake_gpu.environment() | {"FAKE_CUBLASLT": mode, "FAKE_CUDNN": mode}
    result.pop("ALULA_DEVICE", None)
    if libraries:
        result["LD_LIBRARY_PATH"] += f":{LIBRARIES}"
    return result


def compile(path, folder, *flags, mode="", chosen=None):
    output = folder / "out.alula"
    done = subprocess.run(
        [BIN / "alula-compile", path, "--target=cuda:sm_80", "-o", output, *flags],
        env=(chosen or environment(mode)) | {"TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def calls(folder):
    """What is asked of libraries, by kernel, as alula-inspect says."""
    said = subprocess.run(
        [BIN / "alula-inspect", folder / "out.alula", "--json"], check=True, capture_output=True
    ).stdout
    [variant] = json.loads(said)["variants"]
    return {
        name: text.removeprefix("call ")
        for name, text in variant.get("origins", {}).items()
        if text.startswith("call ")
    }


class Library:
    """The fake libraries in this process."""

    def __init__(self):
        fake_gpu.load()
        self.cublaslt = ctypes.CDLL(str(LIBRARIES / "libcublasLt.so.13"))
        self.cuda = ctypes.CDLL(str(fake_gpu.LIBRARY))
        self.cudnn = ctypes.CDLL(str(LIBRARIES / "libcudnn.so.9"))
        for count in (
            self.cublaslt.fakeCublasLtCount,
            self.cudnn.fakeCudnnCount,
            self.cuda.fakeCudaCount,
        ):
            count.restype = ctypes.c_uint64

    def count(self, what):
        return self.cublaslt.fakeCublasLtCount(what.encode())

    def count_attentions(self):
        return self.cudnn.fakeCudnnCount(b"attentions")

    def count_cuda(self, what):
        return self.cuda.fakeCudaCount(what.encode())


@pytest.fixture(scope="module")
def library():
    return Library()


def lower(function, arguments, folder, name="program"):
    path = folder / f"{name}.mlir"
    path.write_text(jax.jit(function).lower(*arguments).as_text())
    return path


NAMES = {"bfloat16": "bf16", "float8_e4m3fn": "f8E4M3FN", "float8_e5m2": "f8E5M2"}


def run(folder, arguments, times=1):
    """Results of each call, in this process."""
    runtime = alula_library.Runtime(fake_gpu.BUILD, device="cuda")
    executable = runtime.load((folder / "out.alula").read_bytes())
    results = []
    for _ in range(times):
        buffers = [runtime.new_buffer(each, dtype_name(each)) for each in arguments]
        results = [each.array() for each in executable.call(executable.find("main"), buffers)]
    return results


def dtype_name(array):
    kind = str(array.dtype)
    return NAMES.get(kind) or {"f": "f", "i": "i", "u": "ui"}[array.dtype.kind] + str(
        8 * array.dtype.itemsize
    )


def draw(generator, *shape, dtype=np.float32):
    return (generator.normal(size=shape) / shape[0] ** 0.5).astype(dtype)


def transformer(x, weights):
    for qkv, out, up, up_bias, down, down_bias in weights:
        q, k, v = (
            part.reshape(LENGTH, HEADS, -1).transpose(1, 0, 2) for part in jnp.split(x @ qkv, 3, -1)
        )
        scores = jax.nn.softmax(q @ k.transpose(0, 2, 1) / (WIDTH // HEADS) ** 0.5, axis=-1)
        x = x + (scores @ v).transpose(1, 0, 2).reshape(LENGTH, WIDTH) @ out
        x = x + jax.nn.gelu(x @ up + up_bias) @ down + down_bias
    return x


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A file with a transformer of two layers, its arguments, XLA:CPU's result."""
    generator = np.random.default_rng(0)
    shapes = [
        (WIDTH, 3 * WIDTH),
        (WIDTH, WIDTH),
        (WIDTH, 4 * WIDTH),
        (4 * WIDTH,),
        (4 * WIDTH, WIDTH),
        (WIDTH,),
    ]
    weights = [[draw(generator, *shape) for shape in shapes] for _ in range(2)]
    x = draw(generator, LENGTH, WIDTH)
    path = lower(transformer, (x, weights), tmp_path_factory.mktemp("transformer"))
    expected = np.asarray(jax.jit(transformer)(x, weights))
    return path, [x, *itertools.chain(*weights)], expected


def check(program, folder, times=1):
    _, arguments, expected = program
    [result] = run(folder, arguments, times)
    np.testing.assert_allclose(result, expected, rtol=2e-4, atol=2e-5)


def test_taken(program, tmp_path, library):
    assert compile(program[0], tmp_path, OFFER) == ""
    asked = calls(tmp_path)
    # Equal kernels of layers are one; attention stays one launch.
    texts = sorted(asked.values())
    assert all(each.endswith(", else generated") for each in texts)
    assert any("m=128 n=24 k=32" in each and "act=gelu bias=f32" in each for each in texts)
    assert any("m=96 n=24 k=32" in each for each in texts)
    before = library.count("products")
    check(program, tmp_path)
    assert library.count("products") - before == 8


def test_nothing_by_default(program, tmp_path):
    assert compile(program[0], tmp_path) == ""
    assert calls(tmp_path) == {}


def test_graphs(program, tmp_path, library):
    """The second call is a graph, which has what the library gives the stream."""
    compile(program[0], tmp_path, OFFER)
    before = [library.count_cuda(each) for each in ("captures", "graph launches")]
    products = library.count("products")
    check(program, tmp_path, times=4)
    captures, launches = (
        library.count_cuda(each) - was
        for each, was in zip(("captures", "graph launches"), before, strict=True)
    )
    assert captures >= 8 and launches >= 3
    assert library.count("products") - products == 4 * 8


def test_declined(program, tmp_path):
    """Here, it is not asked again elsewhere."""
    assert compile(program[0], tmp_path, OFFER, mode="decline") == ""
    assert calls(tmp_path) == {}
    said = compile(program[0], tmp_path, OFFER, "--verbose", mode="decline")
    assert "declines: " in said and "there is no algorithm: CUBLAS_STATUS_NOT_SUPPORTED" in said


FAILURES = {
    "wrong": "must compute what ours does: result 0 on random numbers: ",
    "crash": "must compute what ours does: the process that ran it has died",
    "hang": "must compute what ours does: it had not ended after ",
    "fail": "must compute what ours does: it can't be run: function 'main': kernel 'dot_0': "
    "cublasLtMatmul: CUBLAS_STATUS_EXECUTION_FAILED",
}


@pytest.mark.parametrize("mode", FAILURES)
def test_what_fails_is_ours(tmp_path, mode):
    x = np.ones((24, 32), np.float32)
    path = lower(lambda x, w: x @ w, (x, x.T), tmp_path)
    limit = ["--preprocess-timeout=3"] if mode == "hang" else []
    said = compile(path, tmp_path, OFFER, *limit, mode=mode)
    assert "warning: [pre-run] @dot_0, step 1, 'cublaslt': " + FAILURES[mode] in said
    assert said.count("; the kernel is ours") == 1
    assert calls(tmp_path) == {}
    [result] = run(tmp_path, [x, np.ascontiguousarray(x.T)])
    np.testing.assert_allclose(result, x @ x.T)


def without(folder):
    """Where libraries of these names are none: nothing is looked for behind them."""
    for version in ("12", "13"):
        (folder / f"libcublasLt.so.{version}").write_text("no library")
    chosen = environment(libraries=False)
    chosen["LD_LIBRARY_PATH"] += f":{folder}"
    return chosen


@pytest.mark.parametrize("where", ["no GPU", "no library", "old"])
def test_not_checked(tmp_path, where):
    """It is used, and who compiles is told that it has not run."""
    x = np.ones((24, 32), np.float32)
    path = lower(lambda x, w: x @ w, (x, x.T), tmp_path)
    chosen = {
        "no GPU": os.environ,
        "no library": without(tmp_path),
        "old": environment("old"),
    }[where]
    said = compile(path, tmp_path, OFFER, chosen=chosen)
    assert said.count("'cublaslt': is used and has not run here: ") == 1
    if where != "no GPU":
        reason = {
            "no library": "there is no libcublasLt.so.13 or .12",
            "old": "libcublasLt is of version 111103, and must be of 120000",
        }
        assert reason[where] in said
    assert len(calls(tmp_path)) == 1


def test_other_machines(tmp_path, library):
    """Where there is no library, or one that declines, our code runs, and the trace says why."""
    x, w = (draw(np.random.default_rng(0), *shape) for shape in ((24, 32), (32, 16)))
    compile(lower(lambda x, w: x @ w, (x, w), tmp_path), tmp_path, OFFER)
    assert len(calls(tmp_path)) == 1
    for chosen, reason in (
        (environment(), "cublaslt"),
        (without(tmp_path), "generated: cublaslt: there is no libcublasLt.so.13 or .12"),
        (
            environment("decline"),
            "generated: cublaslt: there is no algorithm: CUBLAS_STATUS_NOT_SUPPORTED",
        ),
    ):
        np.save(tmp_path / "x.npy", x)
        np.save(tmp_path / "w.npy", w)
        np.save(tmp_path / "y.npy", x @ w)
        subprocess.run(
            [
                BIN / "alula-run",
                tmp_path / "out.alula",
                "--device=cuda",
                *(f"--input=@{tmp_path / name}.npy" for name in "xw"),
                f"--expected_output=@{tmp_path / 'y.npy'}",
                f"--trace={tmp_path / 'trace.json'}",
            ],
            env=chosen,
            check=True,
            capture_output=True,
        )
        events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
        told = [each["args"]["computed by"] for each in events if "computed by" in each["args"]]
        assert told == [reason]


def test_kernels_of_several_launches(tmp_path, library, monkeypatch):
    """A sum that is cut is two launches of ours; the library does both of them at once."""
    generator = np.random.default_rng(0)
    x, w, bias = draw(generator, 1, 512), draw(generator, 512, 64), draw(generator, 64)
    path = lower(lambda x, w, bias: jax.nn.relu(x @ w + bias), (x, w, bias), tmp_path)
    assert compile(path, tmp_path, OFFER) == ""
    asked = calls(tmp_path)
    assert sorted(asked) == ["dot_0_part0", "dot_0_part1"]
    assert len(set(asked.values())) == 1
    expected = np.maximum(x @ w + bias, 0)
    for mode, count in (("", 1), ("decline", 0)):
        monkeypatch.setenv("FAKE_CUBLASLT", mode)
        before = library.count("products")
        [result] = run(tmp_path, [x, w, bias])
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
        assert library.count("products") - before == count


def several(f16, bf16, bias, i8, f8, batch, f32):
    def product(a, b, dtype=None, dims=(((1,), (0,)), ((), ()))):
        return jax.lax.dot_general(a, b, dims, preferred_element_type=dtype)

    by_rows = (((1,), (1,)), ((), ()))
    return (
        product(f16[0], f16[1]),
        jax.nn.relu(product(bf16[0], bf16[1]) + bias),
        product(bf16[0], bf16[1], jnp.float32),
        product(i8[0], i8[1], jnp.int32, by_rows),
        product(f8[0], f8[1], jnp.float32, by_rows),
        jnp.einsum("bmk,bkn->bmn", batch[0], batch[1]),
        jnp.einsum("bkm,bnk->bmn", batch[1], batch[0]),
        jax.nn.gelu(f32[0].T @ f32[1]).astype(jnp.bfloat16),
        # Rounded once, at the end.
        jax.nn.gelu(product(-bf16[0], bf16[1]).astype(jnp.float32)).astype(jnp.bfloat16),
        # Nobody has a product of bf16 that ends as f16.
        jax.nn.relu(product(2 * bf16[0], bf16[1]).astype(jnp.float16)),
    )


def test_types_and_layouts(tmp_path, library):
    generator = np.random.default_rng(1)
    bf16, f8 = jnp.bfloat16, jnp.float8_e4m3fn

    def bytes(*shape):
        return generator.integers(-100, 100, shape).astype(np.int8)

    arguments = (
        (draw(generator, 12, 32, dtype=np.float16), draw(generator, 32, 20, dtype=np.float16)),
        (draw(generator, 12, 32, dtype=bf16), draw(generator, 32, 24, dtype=bf16)),
        draw(generator, 24, dtype=bf16),
        (bytes(16, 32), bytes(8, 32)),
        (draw(generator, 16, 32, dtype=f8), draw(generator, 32, 32, dtype=f8)),
        (draw(generator, 3, 5, 16), draw(generator, 3, 16, 7)),
        (draw(generator, 32, 12), draw(generator, 32, 8)),
    )
    said = compile(lower(several, arguments, tmp_path), tmp_path, OFFER)
    assert said == ""
    texts = sorted(calls(tmp_path).values())
    for part in (
        "a=f16,n,20,0 b=f16,n,32,0 d=f16,20,240",
        "d=bf16,24,288 act=relu bias=bf16",
        "a=bf16,n,24,0 b=bf16,n,32,0 d=f32,24,288",
        "a=i8,t,32,0 b=i8,n,32,0 d=i32,8,128",
        "a=f8E4M3FN,t,32,0 b=f8E4M3FN,n,32,0 d=f32,32,512",
        "batch=3 a=f32,n,7,112 b=f32,n,16,80 d=f32,7,35",
        "batch=3 a=f32,t,16,80 b=f32,t,7,112 d=f32,5,35",
        # Its bf16 is somebody else's: no library rounds products of f32 to it.
        "a=f32,n,8,0 b=f32,t,12,0 d=f32,8,96 act=gelu",
        "a=bf16,n,24,0 b=bf16,n,32,0 d=bf16,24,288 act=gelu",
        "a=bf16,n,24,0 b=bf16,n,32,0 d=bf16,24,288, else",
    ):
        assert any(part in each for each in texts), (part, texts)
    before = library.count("products")
    flat = [np.asarray(each) for each in jax.tree.leaves(arguments)]
    results = run(tmp_path, flat)
    assert library.count("products") - before == 10
    for result, expected in zip(results, jax.jit(several)(*arguments), strict=True):
        wide = np.asarray(expected, np.float64)
        narrow = result.dtype.itemsize == 2
        np.testing.assert_allclose(
            np.asarray(result, np.float64),
            wide,
            rtol=1e-2 if narrow else 1e-4,
            atol=1e-2 if narrow else 1e-5,
        )


def test_what_is_not_offered(tmp_path):
    """Functions that are not a library's stay outside; so do weights of few bits and products in
    loops."""
    x, w = np.ones((24, 32), np.float32), np.ones((32, 16), np.float32)
    few = np.ones((32, 16), np.int8)

    def function(x, w, few):
        almost = x @ w
        widened = x @ (few.astype(jnp.float32) * 0.5)
        looped = jax.lax.fori_loop(0, 3, lambda i, y: jnp.tanh(y @ w @ w.T), x)
        return almost * jax.nn.sigmoid(1.702 * almost), widened, looped

    compile(lower(function, (x, w, few), tmp_path), tmp_path, OFFER, chosen=os.environ)
    [text] = calls(tmp_path).values()
    assert "m=16 n=24 k=32" in text and "act=" not in text


def test_wrong_flags(tmp_path):
    path = lower(lambda x, w: x @ w, (np.ones((4, 4)), np.ones((4, 4))), tmp_path)
    done = subprocess.run(
        [
            BIN / "alula-compile",
            path,
            "--target=cuda:sm_80",
            "-o",
            tmp_path / "out.alula",
            "--preprocess-executables-with=offer:softmax:cublaslt",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "[pre-usage] 'offer:softmax:cublaslt': cublaslt is not offered 'softmax'" in done.stderr


def scaled(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * q.dtype.type(0.25)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


def by_heads(q, k, v):
    return jax.nn.softmax(q @ jnp.swapaxes(k, -1, -2) / 4.0) @ v


def as_jax(q, k, v):
    return jax.nn.dot_product_attention(q, k, v)


ATTENTIONS = {
    # Batch, queries, heads, numbers: the matrices of heads lie in one another.
    "scaled": (scaled, (2, 24, 2, 16), (2, 40, 2, 16), np.float16),
    "jax": (as_jax, (2, 24, 2, 16), (2, 40, 2, 16), jnp.bfloat16),
    "heads": (by_heads, (3, 24, 16), (3, 40, 16), jnp.bfloat16),
}


@pytest.mark.parametrize("name", ATTENTIONS)
def test_attention(tmp_path, library, name):
    function, queries, keys, dtype = ATTENTIONS[name]
    generator = np.random.default_rng(2)
    arguments = [generator.normal(size=shape).astype(dtype) for shape in (queries, keys, keys)]
    assert compile(lower(function, arguments, tmp_path), tmp_path, OFFER_ATTENTION) == ""
    [text] = calls(tmp_path).values()
    assert text.startswith(f"cudnn attention type={dtype_name(arguments[0])} scale=0.25 q=")
    if name == "heads":
        assert "q=1,3,24,16,1152,384,16,1 k=1,3,40,16,1920,640,16,1" in text
    else:
        assert "q=2,2,24,16,768,16,32,1 k=2,2,40,16,1280,16,32,1" in text
        assert "o=2,2,24,16,768,16,32,1" in text
    before = library.count_attentions()
    [result] = run(tmp_path, arguments, times=3)
    assert library.count_attentions() - before == 3
    expected = np.asarray(function(*(jnp.asarray(each, jnp.float32) for each in arguments)))
    np.testing.assert_allclose(np.asarray(result, np.float32), expected, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("mode", [*FAILURES, "decline", "old"])
def test_attention_that_fails_is_ours(tmp_path, mode):
    generator = np.random.default_rng(2)
    arguments = [
        generator.normal(size=shape).astype(np.float16) for shape in ((2, 24, 16), (2, 40, 16))
    ]
    arguments.append(arguments[1])
    path = lower(by_heads, arguments, tmp_path)
    limit = ["--preprocess-timeout=3"] if mode == "hang" else []
    said = compile(path, tmp_path, OFFER_ATTENTION, *limit, mode=mode)
    if mode == "old":
        assert "libcudnn is of version 91200, and must be of 91301" in said
        assert len(calls(tmp_path)) == 1
        return
    assert said.count("; the kernel is ours") == (mode != "decline")
    if mode in FAILURES:
        reason = FAILURES[mode].replace("dot_0", "attention_0")
        reason = reason.replace("cublasLtMatmul: CUBLAS_", "cudnnBackendExecute: CUDNN_")
        assert "warning: [pre-run] @attention_0, step 1, 'cudnn': " + reason in said
    assert calls(tmp_path) == {}


def test_attention_that_is_not_offered(tmp_path):
    """One that masks, one of f32."""
    shapes = ((2, 24, 2, 16), (2, 24, 2, 16), (2, 24, 2, 16))
    for function, dtype in (
        (lambda *each: jax.nn.dot_product_attention(*each, is_causal=True), jnp.bfloat16),
        (as_jax, np.float32),
    ):
        arguments = [np.ones(shape, dtype) for shape in shapes]
        path = lower(function, arguments, tmp_path)
        compile(path, tmp_path, OFFER_ATTENTION, chosen=os.environ)
        assert calls(tmp_path) == {}
