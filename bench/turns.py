"""Peers that take turns in one process: call by call, each as often as fills a sample."""

import statistics
import time

# Least time of a sample, in seconds.
SAMPLE = 0.003


def wait_for_rest():
    """Until the threads of this process have stopped: onnxruntime's look for work during 31 ms
    of processor time after each call, and whoever comes next would share the machine with them."""
    before = time.process_time()
    while True:
        time.sleep(0.01)
        now = time.process_time()
        if now - before < 0.001:
            return
        before = now


def measure(peers: dict, rounds: int, clock=time.process_time, warm=1, rests=False) -> dict:
    """Seconds of a call, one for each round. Each call waits for its result; with `rests`,
    each turn begins when the threads of the others sleep."""
    times = {name: [] for name in peers}
    counts = {}
    for name, call in peers.items():
        for _ in range(warm):
            call()
        start = time.perf_counter()
        call()
        counts[name] = max(1, int(SAMPLE / max(time.perf_counter() - start, 1e-7)))
    for turn in range(rounds):
        for name in list(peers) if turn % 2 == 0 else reversed(peers):
            if rests:
                wait_for_rest()
            start = clock()
            for _ in range(counts[name]):
                peers[name]()
            times[name].append((clock() - start) / counts[name])
    return times


def summarize(times: dict) -> dict:
    """The least time of ours, and how many times as long each other one takes: the median of
    ratios of a round."""
    ours = times["alula"]
    ratios = {
        name: statistics.median(b / a for a, b in zip(ours, other, strict=True))
        for name, other in times.items()
        if name != "alula"
    }
    return {"microseconds": min(ours) * 1e6} | ratios
