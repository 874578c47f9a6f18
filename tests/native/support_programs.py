"""Native code for the programs of the table of ops: what compiles, what is right.

A program of the table makes its operands from constants. Here these are arguments,
and what the last op gives is returned, so that no compiler can fold or drop
anything. Quantized results are dequantized before they are returned.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "jax"), str(HERE.parent / "stablehlo")]

import compare
import native_corpus
import split_program
import tensor_file
import tool_batch
import worker_pool

RIGHT = ""


def open_up(generic: str) -> split_program.Split:
    """The program with arguments for constants and with results."""
    functions = split_program.parse_functions(generic)
    main = functions["main"]
    ops = [op for op in main.ops if op.name != "func.return"]
    last = [op for op in ops if op.name != "stablehlo.constant" or op is ops[-1]][-1]
    returned = []
    lines = generic.splitlines()
    place = next(k for k, line in enumerate(lines) if line.startswith('    "func.return"'))
    extra = []
    for number, (name, kind) in enumerate(zip(last.results, last.result_types, strict=True)):
        if not kind.startswith("tensor<"):
            continue
        if "!quant" in kind:
            plain = re.sub(r"!quant\.uniform<\w+:(\w+).*>", r"\1", kind) + ">"
            wide = f"%wide{number}"
            extra.append(
                f'    {wide} = "stablehlo.uniform_dequantize"({name}) : ({kind}) -> {plain}'
            )
            name, kind = wide, plain
        returned.append((name, kind))
    names = ", ".join(name for name, _ in returned)
    kinds = ", ".join(kind for _, kind in returned)
    lines[place : place + 1] = [*extra, f'    "func.return"({names}) : ({kinds}) -> ()']
    return split_program.split(split_program.parse_functions("\n".join(lines)), "main")


def _fits(kind: str, wanted: str) -> bool:
    """Whether a result is of a type of the program, which may leave sizes open."""
    pattern = re.escape(re.sub(r", #stablehlo\.bounds<.*>", "", wanted))
    return re.fullmatch(pattern.replace(r"\?", r"\d+"), kind) is not None


class NativePrograms:
    def __init__(self, folder: pathlib.Path, build: pathlib.Path, jobs: int):
        self.folder, self.build, self.jobs = folder, build, jobs
        self.interpreter = build / "bin/alula-interpret"

    def problems(self, generic: dict, runnable: set) -> dict:
        """What is wrong with the native code of each program; "" if nothing is.

        `generic` are texts by key; the `runnable` are run as well as compiled.
        """
        found, jobs = {}, {}
        for number, (key, text) in enumerate(generic.items()):
            stem = self.folder / f"native{number:05d}"
            try:
                parts = open_up(text)
                job = {
                    "inputs": [
                        {"type": native_corpus.inner(kind), "file": f"{stem}.in{k}.bin"}
                        for k, kind in enumerate(parts.input_types)
                    ],
                    "results": [native_corpus.inner(kind) for kind in parts.output_types],
                }
            except split_program.Unsplittable as reason:
                found[key] = f"not made into a program: {reason}"
                continue
            job |= {"program": f"{stem}.mlir", "make": f"{stem}.make.mlir"}
            job |= {"outputs": str(stem), "run": key in runnable}
            pathlib.Path(job["program"]).write_text(parts.program)
            pathlib.Path(job["make"]).write_text(parts.inputs)
            jobs[key] = job
        self._interpret(jobs)
        answers = worker_pool.run(list(jobs.values()), self.build, self.jobs, title="native")
        for (key, job), answer in zip(jobs.items(), answers, strict=True):
            found[key] = self._problem(job, answer)
        return found

    def uncompiled(self, generic: dict, target: str) -> dict:
        """Why there is no code of a target for each program; "" if there is."""
        found, jobs = {}, {}
        for number, (key, text) in enumerate(generic.items()):
            try:
                parts = open_up(text)
            except split_program.Unsplittable as reason:
                found[key] = f"not made into a program: {reason}"
                continue
            program = self.folder / f"compiled{number:05d}.mlir"
            program.write_text(parts.program)
            jobs[key] = {"program": str(program), "targets": [target], "run": False}
        answers = worker_pool.run(list(jobs.values()), self.build, self.jobs, title=target)
        for (key, job), answer in zip(jobs.items(), answers, strict=True):
            found[key] = self._problem(job, answer)
        return found

    def _interpret(self, jobs: dict) -> None:
        """Makes the inputs and the reference's results; what fails is only compiled."""
        tasks = [
            [job["make"], "--function=main", *(f"--output={i['file']}" for i in job["inputs"])]
            for job in jobs.values()
        ]
        made = tool_batch.interpret(self.interpreter, tasks, self.jobs)
        for job, problem in zip(jobs.values(), made, strict=True):
            job["run"] &= not problem
        runs = [job for job in jobs.values() if job["run"]]
        tasks = [
            [job["program"], "--function=main"]
            + [f"--input={i['type']}=@{i['file']}" for i in job["inputs"]]
            + [f"--output={job['outputs']}.ref{k}.bin" for k in range(len(job["results"]))]
            for job in runs
        ]
        for job, problem in zip(
            runs, tool_batch.interpret(self.interpreter, tasks, self.jobs), strict=True
        ):
            job["run"] = not problem

    def _problem(self, job: dict, answer: dict) -> str:
        if answer["status"] != "ok":
            phase = f" at {answer['at']}" if "at" in answer else ""
            prefix = "" if answer["status"] == "compile" else f"{answer['status']}{phase}: "
            return prefix + (answer.get("message") or "fails")
        if not job["run"]:
            return RIGHT
        types = [result["type"] for result in answer["results"]]
        if not all(map(_fits, types, job["results"])) or len(types) != len(job["results"]):
            return f"wrong: results {types} for {job['results']}"
        for number, (result, kind) in enumerate(zip(answer["results"], types, strict=True)):
            ours = tensor_file.read(result["file"], kind)
            theirs = tensor_file.read(f"{job['outputs']}.ref{number}.bin", kind)
            if difference := compare.compare(ours, theirs, accumulates=True):
                return f"wrong: {difference.text}"
        return RIGHT
