"""Inner loops of products for aarch64: LLVM-MCA says that nothing but multiplications takes time."""

import shutil

import pytest

from bench.inner_loops import PROCESSORS, TYPES, count_cycles, count_least, measure

# What the largest processors have.
MATRICES = {"f32": "fmla", "bf16": "bfmmla", "i8": "smmla"}


@pytest.fixture(autouse=True)
def tools():
    for tool in ("llvm-mca-19", "llvm-objdump-19"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")


@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("type_", TYPES)
def test_share_of_the_limit(type_, processor):
    ops, count, cycles, least = measure(type_, processor)
    assert count >= 16
    assert 0.9 <= least / cycles <= 1.01, (ops, count, cycles, least)
    if processor == "neoverse-v2":
        assert ops == MATRICES[type_]


def test_what_waits_is_seen():
    # Sixteen products that wait for each other, and the same that do not.
    chain = ["fmla v0.4s, v1.4s, v2.s[0]"] * 16
    apart = [f"fmla v{number}.4s, v30.4s, v31.s[0]" for number in range(16)]
    least = count_least("neoverse-v2", chain)
    assert least == pytest.approx(count_least("neoverse-v2", apart))
    assert count_cycles("neoverse-v2", chain) > 4 * least
