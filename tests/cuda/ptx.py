"""PTX of every op as ptxas sees it: registers, spills, instructions.

  ptx.py [--chip sm_80] [--match RE] [--results FILE.jsonl]

A program of each op and one type of each column of docs/op_support.md, and those of
compiler/target/cuda/test, for each chip. Fails if ptxas refuses a text, if a kernel
spills, if a program named in ACCESSES there has no such accesses, or if a function
that kernels call spills more than known_spills.json says:
what such a function keeps for its callers counts too, ptxas can't tell it apart.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")
sys.path[:0] = [
    str(HERE.parent),
    str(HERE.parent / "native"),
    str(ROOT / "compiler/target/cuda/test"),
]

import op_support
import split_program
import support_programs
from support import cuda_image

PTXAS = shutil.which("ptxas", path=f"{os.environ['PATH']}:/usr/local/cuda/bin")
# Bytes that functions called by kernels of these ops may spill.
KNOWN = json.loads((HERE / "known_spills.json").read_text())


# Programs that no machine has code for say so.
NOT_NATIVE = re.compile("no native code|has no order of bits|must be a number of the element type")


def make_programs(folder: pathlib.Path, match: str, jobs: int) -> dict[str, pathlib.Path]:
    """Files by the name of the op and the type."""
    programs = op_support.Programs(folder, BUILD / "bin")
    chosen = [
        (op, kind)
        for op, kind in programs.choose()
        if re.search(match, f"{op.dialect}.{op.name} {kind.split(',')[0]}")
    ]
    programs.read(jobs, chosen)
    files = {}
    for (op, kind), text in programs.texts().items():
        try:
            program = support_programs.open_up(text).program
        except split_program.Unsplittable:
            continue
        path = folder / f"ptx{len(files):05d}.mlir"
        path.write_text(program)
        files[f"{op.dialect}.{op.name} {kind.split(',')[0]}"] = path
    import test_cuda_programs

    for name, text in test_cuda_programs.PROGRAMS.items():
        if not re.search(match, name):
            continue
        path = folder / f"{name}.mlir"
        path.write_text(text)
        files[name] = path
    return files


def say(*command) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(word) for word in command], check=False, capture_output=True, timeout=600
    )


def judge(name: str, path: pathlib.Path, chip: str) -> dict:
    """What a program's kernels need; "error" if there is no code of it."""
    artifact = path.with_suffix(f".{chip}.alula")
    done = say(BUILD / "bin/alula-compile", path, "-o", artifact, f"--target=cuda:{chip}")
    found = {"name": name, "chip": chip, "kernels": 0, "spills": 0, "kept": 0, "registers": 0}
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        return found | {"none" if NOT_NATIVE.search(said) else "error": said[:300]}
    import test_cuda_programs

    missing = set(test_cuda_programs.ACCESSES.get(name, []))
    image = say(BUILD / "bin/alula-inspect", artifact, f"--extract=cuda:{chip}").stdout
    if not image:
        return found  # It only moves its arguments.
    for number, [code] in enumerate(cuda_image.read(image).modules):
        text = path.with_suffix(f".{chip}.{number}.ptx")
        text.write_text(code.text)
        missing -= {access for access in missing if access in code.text}
        done = say(PTXAS, "-v", f"-arch={chip}", text, "-o", text.with_suffix(".cubin"))
        said = done.stderr.decode(errors="replace") + done.stdout.decode(errors="replace")
        if done.returncode:
            return found | {"error": f"ptxas: {said.strip()[:300]}"}
        # It makes products of warpgroups wait for each other, and says so.
        if "wgmma" in said:
            return found | {"error": f"ptxas: {said[said.index('wgmma') :][:300]}"}
        found["kernels"] += code.text.count(".entry ")
        entries = set(re.findall(r"\.entry (\w+)", code.text))
        for function, spilled in re.findall(
            r"properties for (\w+)\n.* (\d+) bytes spill stores", said
        ):
            kind = "spills" if function in entries else "kept"
            found[kind] = max(found[kind], int(spilled))
        for used in re.findall(r"Used (\d+) registers", said):
            found["registers"] = max(found["registers"], int(used))
    if missing:
        found["error"] = f"no {', '.join(sorted(missing))}"
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chip", action="append", default=[], help="sm_80, sm_90a")
    parser.add_argument("--match", default="", help="regular expression")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--results", type=pathlib.Path, help="JSON lines file")
    options = parser.parse_args()
    if not PTXAS:
        sys.exit("no ptxas: NVIDIA's toolkit and its wheel nvidia-cuda-nvcc-cu12 have it")
    with tempfile.TemporaryDirectory() as folder:
        files = make_programs(pathlib.Path(folder), options.match, options.jobs)
        tasks = [
            (name, path, chip)
            for name, path in files.items()
            for chip in options.chip or ["sm_80", "sm_90a"]
        ]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            found = list(pool.map(lambda task: judge(*task), tasks))
    if options.results:
        options.results.write_text("".join(json.dumps(entry) + "\n" for entry in found))
    bad = [entry for entry in found if "error" in entry]
    for entry in bad:
        print(f"ERROR {entry['name']} {entry['chip']}: {entry['error']}")
    spills = [entry for entry in found if entry["spills"]]
    for entry in spills:
        print(f"SPILLS {entry['name']} {entry['chip']}: {entry['spills']} bytes")
    kept = collections.defaultdict(int)
    for entry in found:
        name = entry["name"].split()[0]
        kept[name] = max(kept[name], entry["kept"])
    more = {name for name, count in kept.items() if count > KNOWN.get(name, 0)}
    for name, count in sorted(kept.items()):
        if count:
            word = "SPILLS" if name in more else "known"
            print(f"{word} {name}: {count} bytes in a function that is called")
    print(
        f"{len(found)} programs, {sum(entry['kernels'] for entry in found)} kernels: "
        f"{sum('none' in entry for entry in found)} not native on any machine, "
        f"{len(bad)} failed, {len(spills)} kernels spill, "
        f"{max((entry['registers'] for entry in found), default=0)} registers at most"
    )
    bad = bad or spills
    sys.exit(bool(bad or more))


if __name__ == "__main__":
    main()
