"""Makes the bundle of gpu.py: a tenth of JAX's harnesses and the rows of gpu_rows.py as
artifacts for CPUs and GPUs, with XLA:CPU's results, and the tools that run them."""

import contextlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

import gpu_bundled

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")
CORPUS = BUILD / "corpus/tenth"
MOST_BYTES = 60_000_000
TARGETS = ["--target=cuda:sm_80", "--target=cuda:sm_90a", "--target=cpu:x86-64-v2"]
SCRIPTS = ["gpu.py", "gpu_bundled.py", "gpu_driver.py", "gpu_rows.py"]
START = """#!/bin/sh
exec python3 "$(dirname "$0")/bench/gpu.py" "$@"
"""
# Of its type, and where sums of a GPU go in another order.
TOLERANCES = [{}, {"rtol": 1e-3, "atol": 1e-4}]


def compile_program(source: pathlib.Path, out: pathlib.Path) -> str:
    """Why there is no artifact, or nothing."""
    words = [BUILD / "bin/alula-compile", source, *TARGETS, "-o", out]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stderr.strip()[-300:] if done.returncode else ""


def find_tolerance(folder: pathlib.Path, program: dict) -> dict | None:
    """The first one within which the CPU's code has the results, if there is one."""
    for tolerance in TOLERANCES:
        words = [
            BUILD / "bin/alula-run",
            folder / program["file"],
            *(f"--input={value}" for value in program["inputs"]),
            *(f"--expected_output={value}" for value in program["outputs"]),
            *(f"--{name}={value}" for name, value in tolerance.items()),
        ]
        done = subprocess.run(words, capture_output=True, check=False, cwd=folder)
        if not done.returncode:
            return tolerance
    return None


def add_programs(folder: pathlib.Path, corpus: pathlib.Path) -> tuple[list[dict], dict]:
    """Those that are in, and why others are not."""
    sys.path.insert(0, str(ROOT / "tests/jax"))
    import harness_corpus

    # A second run adds what is missing.
    if corpus == CORPUS:
        script = ROOT / "tests/jax/harness_corpus.py"
        words = [sys.executable, script, "--shard=0/10", "--jobs=1"]
        subprocess.run([*words, "--out", CORPUS], check=True)
    entries = [e for e in harness_corpus.read_index(corpus) if e["status"] == "ok"]
    (folder / "programs").mkdir()
    programs, left_out = [], {}
    for entry in entries:
        number = entry["id"]
        name = entry["name"]
        program = {"name": name, "file": f"programs/{number}.alula"}
        if problem := compile_program(corpus / entry["mlir"], folder / program["file"]):
            left_out[name] = problem
            continue
        for key in ("inputs", "outputs"):
            program[key] = []
            for place, value in enumerate(entry[key]):
                file = f"programs/{number}.{key}.{place}"
                shutil.copyfile(corpus / value["file"], folder / file)
                program[key].append(f"{value['type']}=@{file}")
        tolerance = find_tolerance(folder, program)
        if tolerance is None:
            left_out[name] = "its results are not those of XLA:CPU within a tolerance"
            for file in (folder / "programs").glob(f"{number}.*"):
                file.unlink()
            continue
        programs.append(program | tolerance)
        if len(programs) % 50 == 0:
            print(f"{len(programs)} programs", flush=True)
    return programs, left_out


def record_rows(small: bool) -> dict:
    """Each row's program, which is not run, and what it counts."""
    import gpu_rows
    import jax
    import numpy as np

    found = {}

    def record(function, *arguments):
        lowered = function.lower(*arguments)
        found["program"] = str(lowered.compiler_ir("stablehlo"))
        result = jax.tree.map(
            lambda each: np.broadcast_to(np.zeros((), each.dtype), each.shape), lowered.out_info
        )
        return {"result": result}

    saved = gpu_rows.measure, gpu_rows.check, gpu_rows.random
    gpu_rows.measure, gpu_rows.check = record, lambda *_: None
    gpu_rows.random = lambda shape, dtype, seed=0: jax.numpy.zeros(shape, dtype)
    rows = {}
    try:
        for name, row in gpu_rows.ROWS.items():
            found.clear()
            if name == "copy" or name.startswith("product_") and name != "product_bf16":
                continue
            with contextlib.redirect_stdout(io.StringIO()):
                counted = row(small)
            rows[name] = {"program": found["program"]} | {
                key: counted[key] for key in ("flops", "bytes", "kernels") if key in counted
            }
    finally:
        gpu_rows.measure, gpu_rows.check, gpu_rows.random = saved
    return rows


def add_rows(folder: pathlib.Path, sizes: tuple[bool, ...]) -> dict:
    (folder / "rows").mkdir()
    rows = {}
    for small in sizes:
        for name, row in record_rows(small).items():
            name += gpu_bundled.SMALL if small else ""
            source = folder / f"{name}.mlir"
            source.write_text(row.pop("program"))
            if problem := compile_program(source, folder / f"rows/{name}.alula"):
                raise SystemExit(f"{name}: {problem}")
            source.unlink()
            rows[name] = row | {"file": f"rows/{name}.alula"}
            print(f"row {name}", flush=True)
    return rows


def add_tools(folder: pathlib.Path) -> None:
    for place in ("bin", "lib", "bench"):
        (folder / place).mkdir()
    for tool in ("alula-run", "alula-bench"):
        strip(BUILD / "bin" / tool, folder / "bin" / tool)
    for library in (BUILD / "lib").glob("libalula_*.so.0"):
        strip(library.resolve(), folder / "lib" / library.name)
    for script in SCRIPTS:
        shutil.copyfile(ROOT / "bench" / script, folder / "bench" / script)
    (folder / "run").write_text(START)
    (folder / "run").chmod(0o755)


def strip(source: pathlib.Path, target: pathlib.Path) -> None:
    tool = shutil.which("llvm-strip-19") or "strip"
    subprocess.run([tool, "--strip-all", "-o", target, source], check=True)


def make(
    file: pathlib.Path, corpus: pathlib.Path = CORPUS, sizes: tuple[bool, ...] = (False, True)
) -> int:
    """`sizes`: of rows, whether they are small."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False, cwd=ROOT
    ).stdout.strip()
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place) / "alula-gpu"
        folder.mkdir()
        add_tools(folder)
        rows = add_rows(folder, sizes)
        programs, left_out = add_programs(folder, corpus)
        contents = {"commit": commit, "programs": programs, "rows": rows, "left_out": left_out}
        (folder / "bundle.json").write_text(json.dumps(contents, indent=1) + "\n")
        with tarfile.open(file, "w:xz") as archive:
            archive.add(folder, arcname=folder.name)
    size = file.stat().st_size
    print(f"{file}: {size / 1e6:.1f} MB, {len(programs)} programs, {len(left_out)} left out")
    if size > MOST_BYTES:
        print(f"larger than {MOST_BYTES / 1e6:.0f} MB")
        return 1
    return 0
