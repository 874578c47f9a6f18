"""Artifacts whose PTX has been changed: mistakes that the interpreter has to see.

  changed_ptx.py ARTIFACT KIND RESULT.npy ARGUMENT.npy...

Calls one in a process of its own, as a kernel that fails ends the device for all.
Arrays are bytes; KIND is the type of all arguments.
"""

import pathlib
import re
import struct
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent

MASK = (1 << 64) - 1
PRIMES = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)


def rotate(value, by):
    value &= MASK
    return (value << by | value >> (64 - by)) & MASK


def mix(lane, word):
    return rotate(lane + word * PRIMES[1], 31) * PRIMES[0] & MASK


def hash_bytes(data):
    """XXH64 with seed 0, as artifact/hash.cpp has it."""
    one, two, three, four, five = PRIMES
    at, size, found = 0, len(data), five
    if size >= 32:
        lanes = [one + two & MASK, two, 0, -one & MASK]
        at = size // 32 * 32
        for i, (word,) in enumerate(struct.iter_unpack("<Q", data[:at])):
            lanes[i % 4] = mix(lanes[i % 4], word)
        found = sum(rotate(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            found = (found ^ mix(0, lane)) * one + four & MASK
    found = found + size & MASK
    while size - at >= 8:
        word = int.from_bytes(data[at : at + 8], "little")
        found, at = rotate(found ^ mix(0, word), 27) * one + four & MASK, at + 8
    if size - at >= 4:
        word = int.from_bytes(data[at : at + 4], "little")
        found, at = rotate(found ^ word * one & MASK, 23) * two + three & MASK, at + 4
    for byte in data[at:]:
        found = rotate(found ^ byte * five & MASK, 11) * one & MASK
    found = (found ^ found >> 33) * two & MASK
    found = (found ^ found >> 29) * three & MASK
    return found ^ found >> 32


def change(artifact, edit):
    """The one text of PTX in it as `edit` makes it, which may be no longer."""
    begin = artifact.index(b".version ")
    end = artifact.index(b"\0", begin)
    text = artifact[begin:end].decode()
    changed = edit(text)
    assert changed != text and len(changed) <= len(text), "the mistake is none"
    data = bytearray(artifact)
    data[begin:end] = changed.ljust(len(text)).encode()
    [count] = struct.unpack_from("<I", data, 12)
    for i in range(count):
        place = 64 + 32 * i
        _, _, offset, size, old = struct.unpack_from("<IIQQQ", data, place)
        if offset <= begin < offset + size:
            assert hash_bytes(artifact[offset : offset + size]) == old
            struct.pack_into(
                "<Q", data, place + 24, hash_bytes(bytes(data[offset : offset + size]))
            )
    struct.pack_into("<Q", data, 24, 0)
    struct.pack_into("<Q", data, 24, hash_bytes(bytes(data[: 64 + 32 * count])))
    return bytes(data)


def replace(pattern, by, number=0):
    """An edit: match `number` of a pattern."""

    def edit(text):
        found = list(re.finditer(pattern, text))[number]
        return text[: found.start()] + found.expand(by) + text[found.end() :]

    return edit


def run(folder, kind, artifact, arrays):
    """What the one result is, as bytes; what the process said, if it failed."""
    (folder / "changed.alula").write_bytes(artifact)
    names = [folder / f"argument{i}.npy" for i in range(len(arrays))]
    for name, array in zip(names, arrays):
        np.save(name, array.view(np.uint8))
    words = [__file__, folder / "changed.alula", kind, folder / "result.npy", *names]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    return (None, done.stderr) if done.returncode else (np.load(folder / "result.npy"), "")


def main():
    sys.path[:0] = [str(HERE.parent / name) for name in ("native", "jax")]
    import fake_gpu
    import ml_dtypes

    import alula_library

    artifact, kind, result, *arguments = sys.argv[1:]
    fake_gpu.load()
    runtime = alula_library.Runtime(fake_gpu.BUILD, device="cuda")
    executable = runtime.load(pathlib.Path(artifact).read_bytes())
    types = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "i8": np.int8}
    arrays = [np.load(name).view(types[kind]) for name in arguments]
    buffers = [runtime.new_buffer(array, kind) for array in arrays]
    [got] = executable.call(executable.find("main"), buffers)
    np.save(result, np.ascontiguousarray(got.array()).view(np.uint8))


if __name__ == "__main__":
    main()
