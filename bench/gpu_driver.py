"""CUDA's driver and cuBLAS by ctypes: what is measured without JAX.

gpu_driver.py copy|product_cublas [--small]     prints a JSON object
"""

import argparse
import ctypes
import ctypes.util
import json
import os
import struct
import time


class Driver:
    """CUDA's driver in this process, with its primary context, which JAX uses too."""

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


def make_pool(driver) -> ctypes.c_void_p:
    """Memory of the first device."""
    pinned, device = 1, 1
    properties = struct.pack("<iiiiQQH54x", pinned, 0, device, 0, 0, 0, 0)
    pool = ctypes.c_void_p()
    driver.call("cuMemPoolCreate", ctypes.byref(pool), ctypes.c_char_p(properties))
    return pool


def allocate(driver, pool, data: bytes, size: int) -> ctypes.c_uint64:
    """Memory that has `data` over and over."""
    memory = ctypes.c_uint64()
    driver.call(
        "cuMemAllocFromPoolAsync",
        ctypes.byref(memory), ctypes.c_size_t(size), pool, driver.stream,
    )  # fmt: skip
    host = ctypes.create_string_buffer(data, len(data))
    for place in range(0, size, len(data)):
        driver.call(
            "cuMemcpyAsync",
            ctypes.c_uint64(memory.value + place), ctypes.c_uint64(ctypes.addressof(host)),
            ctypes.c_size_t(min(len(data), size - place)), driver.stream,
        )  # fmt: skip
    driver.wait()
    return memory


def time_copy(driver, target, source, size: int) -> float:
    """Seconds that the driver's own copy takes: what rows that are bound by memory are
    measured against."""
    arguments = target, source, ctypes.c_size_t(size)
    return time_batches(
        lambda: driver.call("cuMemcpyAsync", *arguments, driver.stream), driver.wait, 10
    )


def open_cublas():
    """The library, or None."""
    names = [f"libcublas.so.{major}" for major in (13, 12, 11)]
    for name in [*names, ctypes.util.find_library("cublas")]:
        try:
            if name:
                return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def time_cublas(driver, library, a, b, c, n: int) -> float:
    """Seconds of c = a b, all bf16 and n x n by rows."""
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
            b, bf16, size, a, bf16, size, ctypes.byref(zero),
            c, bf16, size, by_f32, fastest,
        )  # fmt: skip

    return time_batches(launch, driver.wait, 10)


def make_bf16(count: int) -> bytes:
    """Numbers between 1 and 2, and between -2 and -1, at random."""
    numbers = bytearray(os.urandom(2 * count))
    numbers[1::2] = bytes(0x3F | (byte & 0x80) for byte in numbers[1::2])
    numbers[0::2] = bytes(0x80 | byte for byte in numbers[0::2])
    return bytes(numbers)


def copy(small: bool) -> dict:
    size = 1 << (12 if small else 30)
    driver = Driver()
    pool = make_pool(driver)
    target, source = (allocate(driver, pool, bytes(min(size, 1 << 24)), size) for _ in range(2))
    return {"seconds": time_copy(driver, target, source, size), "bytes": 2 * size}


def product_cublas(small: bool) -> dict:
    """The product of the row product_bf16, on numbers as random as those."""
    library = open_cublas()
    if not library:
        return {"unable": "no libcublas on this machine"}
    n = 256 if small else 8192
    driver = Driver()
    pool = make_pool(driver)
    data = make_bf16(1 << (16 if small else 22))
    memory = [allocate(driver, pool, data, 2 * n * n) for _ in range(3)]
    return {"seconds": time_cublas(driver, library, *memory, n), "flops": 2 * n**3}


ROWS = {"copy": copy, "product_cublas": product_cublas}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("row", choices=ROWS)
    parser.add_argument("--small", action="store_true", help="sizes of an interpreter")
    options = parser.parse_args()
    print(json.dumps(ROWS[options.row](options.small)))


if __name__ == "__main__":
    main()
