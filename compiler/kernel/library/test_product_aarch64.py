"""Products on aarch64, in each way that its processors have, under qemu: arrays end where
memory does."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FOLDER = Path(__file__).resolve().parent
SYSTEM = Path("/usr/aarch64-linux-gnu")
# Types, whether there are dot products and products of matrices.
WAYS = [
    ("f32", 0, 0), ("f64", 0, 0), ("bf16", 0, 0), ("bf16", 1, 1), ("bytes", 0, 0), ("bytes", 1, 0),
    ("bytes", 1, 1),
]  # fmt: skip


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The library's products and what checks them, with the flags that the build has."""
    for tool in ("clang-19", "ld.lld-19", "qemu-aarch64"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")
    if not (SYSTEM / "include/sys/mman.h").exists():
        pytest.skip("no C library for aarch64: Debian's libc6-dev-arm64-cross has it")
    folder = tmp_path_factory.mktemp("products")
    build = (FOLDER / "CMakeLists.txt").read_text()
    objects = []
    for name in ("product", "product_bf16", "product_i8", "transpose", "machine_facts", "product_check"):  # fmt: skip
        flags = re.findall(rf"set\(aarch64_{name}\.c_flags (.*?)\)", build)
        objects.append(folder / f"{name}.o")
        command = [
            "clang-19",
            "--target=aarch64-linux-gnu",
            "-std=gnu11",
            "-O2",
            "-ffp-contract=off",
        ]
        command += ["-Wno-psabi", "-I", ROOT, "-I", ROOT / "include", *" ".join(flags).split()]
        subprocess.run([*command, "-c", FOLDER / f"{name}.c", "-o", objects[-1]], check=True)
    out = folder / "check"
    command = ["clang-19", "--target=aarch64-linux-gnu", "-fuse-ld=lld", *objects, "-lm", "-o", out]
    subprocess.run(command, check=True)
    return out


def check(program, way, trials, seed, processor="max"):
    command = ["qemu-aarch64", "-cpu", processor, "-L", SYSTEM, program]
    kind, *facts = way
    result = subprocess.run(
        [*command, kind, str(trials), str(seed), *map(str, facts)], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr


TRIALS = int(os.environ.get("ALULA_PRODUCT_TRIALS", "60"))


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way)))
def test_products(program, way):
    check(program, way, TRIALS, 11)


# An older processor takes what its facts say, and nothing else.
@pytest.mark.parametrize(
    "processor,way",
    [("cortex-a76", ("bytes", 1, 0)), ("cortex-a76", ("bf16", 0, 0)), ("cortex-a57", ("f32", 0, 0)),
     ("cortex-a57", ("bytes", 0, 0))],
    ids=lambda x: x if isinstance(x, str) else "-".join(map(str, x)),
)  # fmt: skip
def test_older_processors(program, processor, way):
    check(program, way, 20, 5, processor)


def test_what_a_processor_lacks_is_not_run(program):
    # The check itself: matrices on a processor without them.
    with pytest.raises(AssertionError):
        check(program, ("bytes", 1, 1), 20, 5, "cortex-a57")
