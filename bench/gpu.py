"""Everything that a machine with a GPU can tell, in one run: is it right, is it fast.

  gpu.py [--out FILE.json] [--small] [--fake] [--parts NAME,...] [--rows NAME,...]
         [--harnesses tenth|all] [--minutes N]

Runs the tests of the runtime on the device, a JAX program, JAX's harnesses, then the rows
of gpu_rows.py, here and by what else the machine has: XLA:GPU, cuBLAS, PyTorch. A part that
fails or takes too long says so in the file, the others go on. The file is to be committed.
`--fake` is the driver that interprets kernels: it shows that this command works, and
nothing else.
"""

import argparse
import datetime
import importlib.util
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")
ROWS = {
    # Name: what else runs it.
    "copy": [],
    "product_bf16": ["product_cublas", "product_torch", "cuda"],
    "add_one": ["cuda"],
    "softmax": ["cuda"],
    "layer_norm": ["cuda"],
    "sum_of_rows": ["cuda"],
    "attention": ["cuda"],
    "decode": ["cuda"],
    "training_step": ["cuda"],
}
# JAX's own plugins for CUDA.
XLA_PLUGINS = ["jax_cuda12_plugin", "jax_cuda13_plugin"]
BY_MEMORY = ["add_one", "softmax", "layer_norm", "sum_of_rows", "decode"]
SMOKE = """
import jax, jax.numpy as jnp, numpy as np
x = np.random.default_rng(0).normal(size=(32, 48)).astype(np.float32)
got = jax.jit(lambda x: jax.nn.softmax(x @ x.T))(x)
wide = x.astype(np.float64) @ x.T.astype(np.float64)
wide = np.exp(wide - wide.max(-1, keepdims=True))
np.testing.assert_allclose(got, wide / wide.sum(-1, keepdims=True), rtol=1e-4, atol=1e-6)
slope = jax.jit(jax.grad(lambda x: jnp.sin(x).sum()))(x)
np.testing.assert_allclose(slope, np.cos(x), rtol=1e-5, atol=1e-6)
print(jax.default_backend(), len(jax.devices()), "devices")
"""


class Run:
    def __init__(self, options):
        self.options = options
        self.end = time.monotonic() + 60 * options.minutes
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("JAX_", "ALULA_"))
        }
        if options.fake:
            fake = str(BUILD / "tests/fake")
            paths = [fake, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
            self.environment |= {"LD_LIBRARY_PATH": ":".join(paths), "FAKE_CUDA_CHIP": "80"}
        self.with_plugin = {
            "PYTHONPATH": f"{ROOT / 'python'}",
            "ALULA_PJRT_PLUGIN": str(BUILD / "lib/pjrt_plugin_alula.so"),
            "JAX_PLATFORMS": "alula_cuda,cpu",
        }

    def say(self, command, environment=None, seconds=300) -> dict:
        """How a command ended, and what it printed last."""
        seconds = min(seconds, self.end - time.monotonic())
        if seconds <= 0:
            return {"failed": "no time is left"}
        started = time.monotonic()
        try:
            ended = subprocess.run(
                [str(word) for word in command],
                env=self.environment | (environment or {}),
                capture_output=True,
                text=True,
                errors="replace",
                timeout=seconds,
                check=False,
                cwd=ROOT,
            )
        except subprocess.TimeoutExpired:
            return {"failed": f"had not ended after {seconds:.0f} s"}
        except OSError as problem:
            return {"failed": str(problem)}
        found = {"wall_seconds": round(time.monotonic() - started, 2)}
        if ended.returncode:
            said = (ended.stderr.strip() or ended.stdout.strip())[-600:]
            return found | {"failed": f"status {ended.returncode}: {said}"}
        return found | {"said": ended.stdout.strip()}

    def run_jax(self) -> dict:
        return self.say([sys.executable, "-c", SMOKE], self.with_plugin)

    def find_machine(self) -> dict:
        found = {"host": platform.machine(), "python": platform.python_version()}
        said = self.say(
            ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
        )
        found["gpu"] = "none: kernels are interpreted" if self.options.fake else said.get("said")
        found["commit"] = self.say(["git", "rev-parse", "HEAD"]).get("said")
        found["changed"] = bool(self.say(["git", "status", "--porcelain", "-uno"]).get("said"))
        return found

    def run_tests(self) -> dict:
        found = {}
        for name in ["conformance_test", "driver_test"]:
            flags = ["--gtest_brief=1"]
            if name == "conformance_test":
                flags.append("--gtest_filter=*cuda*")
            said = self.say([BUILD / "tests" / name, *flags], {"ALULA_DEVICE": "cuda"})
            if "said" in said:
                said["passed"] = int(
                    (re.findall(r"PASSED\s*\] (\d+)", said.pop("said")) or [0])[-1]
                )
                if not said["passed"]:
                    said["failed"] = "no test has run"
            found[name] = said
        return found

    def run_harnesses(self) -> dict:
        match = ["--match=^abs_|^fft_.*rfft|^cholesky_"] if self.options.small else []
        said = self.say(
            [
                sys.executable,
                ROOT / "tests/jax/run_native.py",
                "--target=cuda:sm_80",
                f"--sample={self.options.harnesses}",
                "--no-reference",
                "--timeout=600",
                *match,
            ],
            {"ALULA_DEVICE": "cuda", "ALULA_BUILD": BUILD.name},
            seconds=3600,
        )
        if "said" in said:
            said["said"] = said["said"].splitlines()[-1:]
        return said

    def run_row(self, name: str, environment: dict) -> dict:
        small = ["--small"] if self.options.small else []
        said = self.say([sys.executable, ROOT / "bench/gpu_rows.py", name, *small], environment)
        if "said" not in said:
            return said
        return json.loads(said["said"].splitlines()[-1]) | {"wall_seconds": said["wall_seconds"]}

    def run_rows(self) -> dict:
        wanted = self.options.rows.split(",") if self.options.rows else list(ROWS)
        found = {}
        for name in wanted:
            found[name] = {"alula": self.run_row(name, self.with_plugin)}
            for peer in ROWS[name]:
                if peer == "cuda":
                    entry = {"unable": "no JAX for CUDA on this machine"}
                    if any(map(importlib.util.find_spec, XLA_PLUGINS)):
                        entry = self.run_row(name, {"JAX_PLATFORMS": "cuda"})
                    found[name]["xla_gpu"] = entry
                else:
                    found[name][peer] = self.run_row(peer, self.with_plugin)
            print(f"  {name}: {summarize(name, found)}", flush=True)
        return found


PARTS = {
    "jax": Run.run_jax,
    "tests": Run.run_tests,
    "rows": Run.run_rows,
    "harnesses": Run.run_harnesses,
}


def get(found: dict, name: str, who: str, what: str):
    return found.get(name, {}).get(who, {}).get(what)


def summarize(name: str, found: dict) -> str:
    ours = found[name]["alula"]
    if "seconds" not in ours:
        return f"FAILED {ours.get('failed', ours.get('unable'))}"
    text = [f"{ours['seconds'] * 1e3:.3f} ms"]
    text += [f"{ours['tflops']:.3g} TFLOP/s"] if "tflops" in ours else []
    text += [f"{ours['gb_per_second']:.4g} GB/s"] if "gb_per_second" in ours else []
    copied = get(found, "copy", "alula", "gb_per_second")
    if name in BY_MEMORY and copied:
        ours["to_copy"] = ours["gb_per_second"] / copied
        text.append(f"{ours['to_copy']:.2f} of a copy")
    for peer, entry in found[name].items():
        if peer != "alula" and "seconds" in entry:
            entry["ratio"] = entry["seconds"] / ours["seconds"]
            text.append(f"{entry['ratio']:.2f} x {peer}")
        elif "unable" in entry:
            text.append(entry["unable"])
        elif "failed" in entry:
            text.append(f"{peer} failed")
    return ", ".join(text)


def list_failures(found) -> list[str]:
    if not isinstance(found, dict):
        return []
    if "failed" in found:
        return [found["failed"]]
    return [f"{name}: {text}" for name, each in found.items() for text in list_failures(each)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    today = datetime.date.today().isoformat()
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--small", action="store_true", help="sizes for an interpreter")
    parser.add_argument("--fake", action="store_true", help="no GPU: kernels are interpreted")
    parser.add_argument("--parts", default=",".join(PARTS), help=",".join(PARTS))
    parser.add_argument("--harnesses", choices=["tenth", "all"], default="tenth")
    parser.add_argument("--rows", default="", help=",".join(ROWS))
    parser.add_argument("--minutes", type=float, default=60, help="for all of it")
    options = parser.parse_args()
    for name in filter(None, options.rows.split(",")):
        if name not in ROWS:
            parser.error(f"no row is called '{name}': {', '.join(ROWS)}")
    for name in options.parts.split(","):
        if name not in PARTS:
            parser.error(f"no part is called '{name}': {', '.join(PARTS)}")
    out = options.out or ROOT / f"bench/results/gpu-{today}.json"
    run = Run(options)
    found = {"date": today, "small": options.small, "machine": run.find_machine()}
    if not found["machine"]["gpu"]:
        sys.exit("no GPU of NVIDIA here: nvidia-smi finds none (--fake interprets kernels)")
    print(f"on {found['machine']['gpu']}", flush=True)

    for name in options.parts.split(","):
        print(f"{name}:", flush=True)
        found[name] = PARTS[name](run)
        # What there is by now stays if the machine is taken away.
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(found, indent=1) + "\n")
        for problem in list_failures({name: found[name]}):
            print(f"  FAILED {problem}", flush=True)

    print(f"written to {out}")
    sys.exit(bool(list_failures(found)))


if __name__ == "__main__":
    main()
