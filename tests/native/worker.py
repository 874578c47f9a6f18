"""Compiles and runs programs, one after the other, in one process.

  worker.py BUILD [MEMORY_BYTES]

Reads one job a line from standard input and writes one answer a line, both JSON:

  job     {"program": FILE, "targets": [..], "run": BOOL,
           "inputs": [{"type", "file"}..], "outputs": PREFIX, "find_floats": BOOL,
           "emulator": [WORDS..], "types": [TYPE..]}
  answer  {"status": "ok" | "compile" | "load" | "run" | "unsound", "message",
           "location", "artifact_bytes", "compile_s", "results": [{"type", "file"}..],
           "floats": as integer_kernels.find_floats says it}

Between the two come lines {"at": PHASE}, so that whoever reads knows where a
process that died was. Files hold a byte for each element of a packed type. The
results are written to PREFIX.0.bin and so on. A run
that is not the same a second time, into memory full of rubbish, or that changes
its arguments, is `unsound`. With an emulator, the words that run an alula-run of
another machine, the program is run by it, once, and has results of `types`.
"""

import json
import pathlib
import resource
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "jax"))

import alula_library
import integer_kernels
import tensor_file


class Worker:
    def __init__(self, build: pathlib.Path, answers):
        self.compiler = alula_library.Compiler(build)
        self.runtime = alula_library.Runtime(build)
        self.answers = answers

    def say(self, answer: dict) -> None:
        self.answers.write(json.dumps(answer) + "\n")
        self.answers.flush()

    def do(self, job: dict) -> dict:
        answer = {"status": "compile"}
        try:
            self.say({"at": "compile"})
            program = pathlib.Path(job["program"]).read_bytes()
            start = time.monotonic()
            artifact = self.compiler.compile(program, job.get("targets") or ["cpu:host"])
            answer["compile_s"] = round(time.monotonic() - start, 4)
            answer["artifact_bytes"] = len(artifact)
            if job.get("find_floats"):
                text = self.compiler.compile(program, ["cpu:host"], until="dispatch")
                answer["floats"] = integer_kernels.find_floats(text.decode())
            if not job.get("run", True):
                return answer | {"status": "ok"}
            if job.get("emulator"):
                answer["status"] = "run"
                self.say({"at": "run"})
                return answer | self.emulate(artifact, job)
            answer["status"] = "load"
            self.say({"at": "load"})
            executable = self.runtime.load(artifact)
            answer["status"] = "run"
            self.say({"at": "run"})
            try:
                return answer | self.run(executable, job)
            finally:
                executable.destroy()
        except alula_library.CompileError as error:
            return answer | {"message": str(error), "location": error.location}
        except (alula_library.RuntimeFailure, OSError, ValueError, KeyError) as error:
            return answer | {"message": str(error) or repr(error)}

    def emulate(self, artifact: bytes, job: dict) -> dict:
        file = pathlib.Path(f"{job['outputs']}.alula")
        file.write_bytes(artifact)
        stored = [
            {"type": kind, "file": f"{job['outputs']}.{number}.bin"}
            for number, kind in enumerate(job["types"])
        ]
        flags = [f"--input={item['type']}=@{item['file']}" for item in job["inputs"]]
        flags += [f"--output={result['file']}" for result in stored]
        command = [*job["emulator"], str(file), "--threads=1", *flags]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        file.unlink()
        if result.returncode:
            said = f"{result.returncode}: {result.stdout[-500:]}{result.stderr[-500:]}"
            return {"status": "run", "message": said}
        return {"status": "ok", "results": stored}

    def run(self, executable: alula_library.Executable, job: dict) -> dict:
        held = []
        try:
            function = executable.find("main")
            arguments, before = [], []
            for item in job["inputs"]:
                array = tensor_file.read(item["file"], item["type"])
                kind = tensor_file.split_type(item["type"])[1]
                arguments.append(self.runtime.new_buffer(array, kind))
                held.append(arguments[-1])
                before.append(arguments[-1].read())
            results = executable.call(function, arguments)
            held += results
            stored = []
            for number, result in enumerate(results):
                path = pathlib.Path(f"{job['outputs']}.{number}.bin")
                path.write_bytes(result.array().tobytes())
                stored.append({"type": result.type, "file": str(path)})
            first = [result.read() for result in results]
            for result in results:
                result.write(b"\xa5" * result.size)
            executable.call(function, arguments, results)
            problem = ""
            for number, (result, data) in enumerate(zip(results, first, strict=True)):
                if result.read() != data:
                    problem = f"result {number} is not the same a second time"
            for number, (argument, data) in enumerate(zip(arguments, before, strict=True)):
                if argument.read() != data:
                    problem = f"argument {number} has changed"
            if problem:
                return {"status": "unsound", "message": problem, "results": stored}
            return {"status": "ok", "results": stored}
        finally:
            for buffer in held:
                buffer.release()


def main() -> None:
    build = pathlib.Path(sys.argv[1])
    if len(sys.argv) > 2:
        limit = int(sys.argv[2])
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    worker = Worker(build, sys.stdout)
    for line in sys.stdin:
        worker.say(worker.do(json.loads(line)))


if __name__ == "__main__":
    main()
