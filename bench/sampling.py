"""Samples: the mean time of a call over batches of at least BATCH seconds, for
peers in Python as Google Benchmark does it for the tools."""

import time

BATCH = 0.01


def sample(call, seconds: float) -> list[float]:
    """Microseconds; as many batches as fit, one at least."""
    clock = time.perf_counter
    start = clock()
    call()
    count = max(1, int(BATCH / max(clock() - start, 1e-9)))
    samples = []
    while not samples or clock() - start < seconds:
        begin = clock()
        for _ in range(count):
            call()
        took = clock() - begin
        if took < BATCH / 2:
            # The first call was slow: not a batch yet.
            count = min(count * 4, int(count * 1.2 * BATCH / max(took, 1e-9)) + 1)
            continue
        samples.append(took / count * 1e6)
    return samples


def summarize(samples: list[float]) -> dict:
    """Noise is how far the median lies above the minimum."""
    if not samples:
        return {}
    ordered = sorted(samples)
    middle = len(ordered) // 2
    median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    return {
        "minimum": ordered[0],
        "median": median,
        "noise": median / ordered[0] - 1,
        "count": len(ordered),
    }
