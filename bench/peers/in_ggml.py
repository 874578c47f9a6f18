"""The kernels of llama.cpp, which are ggml's: a row, or rows, times weights of four or eight
bits. Activations are rounded to bytes for each 32, as our `i8-activations` does."""

import ctypes
import importlib.util
from pathlib import Path

import numpy as np

from bench.peers import Unable

F32, Q4_0, Q8_0, BLOCK = 0, 2, 8, 32


class Memory(ctypes.Structure):
    """`ggml_init_params`."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("buffer", ctypes.c_void_p),
        ("no_alloc", ctypes.c_bool),
    ]


def pack(codes, scales, bits) -> np.ndarray:
    """Bytes of blocks: a scale of f16, then 32 numbers along the sums, those of four bits in pairs
    16 apart. Codes are [sums, columns], unsigned; scales [sums / 32, columns]."""
    blocks = codes.T.reshape(codes.shape[1], -1, BLOCK)
    halves = scales.T.astype(np.float16)[:, :, None].view(np.uint8)
    if bits == 4:
        numbers = blocks.astype(np.uint8)
        numbers = numbers[:, :, :16] | numbers[:, :, 16:] << 4
    else:
        numbers = (blocks - 128).astype(np.int8).view(np.uint8)
    return np.ascontiguousarray(np.concatenate([halves, numbers], -1)).reshape(-1)


def load():
    """Its libraries, with the types of what is called."""
    found = importlib.util.find_spec("libggml")
    if not found:
        raise Unable("not installed")
    folder = Path(found.origin).parent / "lib64"
    names = ("libggml-base.so", "libggml-cpu.so")
    base, cpu = (ctypes.CDLL(folder / name, ctypes.RTLD_GLOBAL) for name in names)
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    for library, name, result, *arguments in (
        (base, "ggml_init", pointer, Memory),
        (base, "ggml_new_tensor_2d", pointer, pointer, ctypes.c_int, number, number),
        (base, "ggml_mul_mat", pointer, pointer, pointer, pointer),
        (base, "ggml_new_graph", pointer, pointer),
        (base, "ggml_build_forward_expand", None, pointer, pointer),
        (base, "ggml_get_data", pointer, pointer),
        (base, "ggml_nbytes", ctypes.c_size_t, pointer),
        (cpu, "ggml_cpu_init", None),
        (cpu, "ggml_graph_plan", Plan, pointer, ctypes.c_int, pointer),
        (cpu, "ggml_graph_compute", ctypes.c_int, pointer, ctypes.POINTER(Plan)),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    cpu.ggml_cpu_init()
    return base, cpu


class Plan(ctypes.Structure):
    """`ggml_cplan`: memory of a computation that is ours; the rest stays as it was given."""

    _fields_ = [
        ("work_size", ctypes.c_size_t),
        ("work_data", ctypes.c_void_p),
        ("rest", ctypes.c_byte * 128),
    ]


class InGgml:
    def __init__(self, case, threads):
        if not case.few_bits:
            raise Unable("no weights of few bits")
        codes, scales, bits = case.few_bits
        base, self.cpu = load()
        data = pack(codes, scales, bits)
        (x,) = (np.ascontiguousarray(value) for value in case.inputs)
        (rows, depth), columns = x.shape, codes.shape[1]
        room = data.nbytes + x.nbytes + 4 * rows * columns + (1 << 24)
        context = base.ggml_init(Memory(room, None, False))
        kind = Q4_0 if bits == 4 else Q8_0
        weights = base.ggml_new_tensor_2d(context, kind, depth, columns)
        given = base.ggml_new_tensor_2d(context, F32, depth, rows)
        if base.ggml_nbytes(weights) != data.nbytes:
            raise ValueError("ggml's blocks have another size")
        result = base.ggml_mul_mat(context, weights, given)
        self.graph = base.ggml_new_graph(context)
        base.ggml_build_forward_expand(self.graph, result)
        for tensor, values in ((weights, data), (given, x)):
            ctypes.memmove(base.ggml_get_data(tensor), values.ctypes.data, values.nbytes)
        self.plan = self.cpu.ggml_graph_plan(self.graph, threads, None)
        self.work = np.empty(self.plan.work_size + 64, np.uint8)
        self.plan.work_data = self.work.ctypes.data
        self.facts = {"artifact_bytes": data.nbytes}
        shape, memory = (rows, columns), base.ggml_get_data(result)
        floats = ctypes.cast(memory, ctypes.POINTER(ctypes.c_float))
        self.result = np.ctypeslib.as_array(floats, shape)

    def results(self):
        self.call()
        return [self.result.copy()]

    def call(self):
        if self.cpu.ggml_graph_compute(self.graph, ctypes.byref(self.plan)):
            raise RuntimeError("ggml failed")
