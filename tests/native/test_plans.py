"""The plans of the benchmark's rows are those in `plans.json`: a change shows.

ALULA_WRITE_PLANS=1 pytest tests/native/test_plans.py   writes them anew"""

import collections
import json
import os
import re
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax_functions
import pytest
from jax import export
from support.tool_runs import BIN, check_success, run_tool

from bench.workloads import ROWS

pytestmark = jax_functions.needs_build

EXPECTED = Path(__file__).with_name("plans.json")


def read_plans(text):
    """What each kernel's stages are, and how often."""
    stages = re.findall(r"#plan\.stage<([^>]*)>", text)
    grids = re.findall(r"#plan\.grid<([^>]*)>", text)
    # Numbers only tell stages apart.
    counts = collections.Counter(re.sub(r"^(\w+) \d+", r"\1", stage) for stage in stages)
    return {"kernels": len(grids), "stages": dict(sorted(counts.items()))}


@pytest.mark.parametrize("name", [row.name for row in ROWS.values() if not row.from_python])
def test_rows_of_the_benchmark(name, tmp_path):
    case = ROWS[name].case("usual")
    exported = export.export(jax.jit(case.closed()), platforms=["cpu"])(*case.inputs)
    program = tmp_path / "program.mlirbc"
    program.write_bytes(exported.mlir_module_serialized)
    flags = ["--target=cpu:x86-64-v4", "--compile-to=plan", "--elide-constants-larger=16"]
    text = check_success(run_tool(BIN / "alula-compile", program, *flags)).decode()
    plans = read_plans(text)
    assert plans["kernels"] > 0 and plans["stages"]
    known = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {}
    if os.environ.get("ALULA_WRITE_PLANS"):
        known[name] = plans
        EXPECTED.write_text(json.dumps(known, indent=1) + "\n")
    assert plans == known.get(name)
