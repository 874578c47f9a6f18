"""Gives jobs to processes of worker.py and survives what happens to them.

A worker that dies or takes too long is replaced; the answer of its job says at
which phase it was: status `crash` or `timeout`, `at` `compile`, `load` or `run`.
"""

import json
import os
import pathlib
import queue
import signal
import subprocess
import sys
import tempfile
import threading

WORKER = pathlib.Path(__file__).resolve().parent / "worker.py"
TIMEOUT = 600
MEMORY = 8 << 30


class _Process:
    def __init__(self, build: pathlib.Path, memory: int, environment: dict[str, str]):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [sys.executable, str(WORKER), str(build), str(memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"} | environment,
        )

    def ask(self, job: dict, timeout: float) -> dict:
        phase, timed_out = "start", threading.Event()

        def stop():
            timed_out.set()
            self.process.kill()

        watchdog = threading.Timer(timeout, stop)
        watchdog.start()
        try:
            self.process.stdin.write(json.dumps(job) + "\n")
            self.process.stdin.flush()
            for line in self.process.stdout:
                try:
                    answer = json.loads(line)
                except ValueError:
                    continue  # A library that prints.
                if "at" not in answer:
                    return answer
                phase = answer["at"]
        except BrokenPipeError:
            pass
        finally:
            watchdog.cancel()
        status = self.process.wait()
        if timed_out.is_set():
            return {"status": "timeout", "at": phase, "message": f"more than {timeout:g} s"}
        return {"status": "crash", "at": phase, "message": self.last_words(status)}

    def last_words(self, status: int) -> str:
        self.errors.seek(0)
        text = self.errors.read().decode(errors="replace").strip()
        name = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        # An assertion or a report says more than the stack that follows it.
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        telling = [x for x in lines if "Assertion" in x or "error:" in x.lower() or "ERROR" in x]
        return ": ".join([name, *(telling or lines)[:1]])[:1000]

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait()
        self.process.stdout.close()
        self.errors.close()


def run(
    jobs: list[dict],
    build: pathlib.Path,
    processes: int,
    timeout: float = TIMEOUT,
    memory: int = MEMORY,
    title: str = "",
    environment: dict[str, str] | None = None,
) -> list[dict]:
    """One answer for each job, in order. The environment is that of the workers."""
    answers: list[dict] = [{}] * len(jobs)
    waiting: queue.SimpleQueue = queue.SimpleQueue()
    for number in range(len(jobs)):
        waiting.put(number)
    done = []

    def work():
        process = None
        while True:
            try:
                number = waiting.get_nowait()
            except queue.Empty:
                break
            process = process or _Process(build, memory, environment or {})
            answers[number] = process.ask(jobs[number], timeout)
            if answers[number]["status"] in ("crash", "timeout"):
                process.close()
                process = None
            done.append(number)
            if title and len(done) % 50 == 0 and sys.stderr.isatty():
                print(f"\r{title} {len(done)}/{len(jobs)}", end="", file=sys.stderr)
        if process:
            process.close()

    threads = [threading.Thread(target=work) for _ in range(min(processes, len(jobs)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if title and sys.stderr.isatty():
        print(file=sys.stderr)
    return answers
