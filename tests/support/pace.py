"""How fast this machine computes now, for tests that judge processor time: what other processes take
does not count in it, how slow a machine is does."""

import time

# What `measure` takes on the machine that limits were chosen on.
USUAL = 0.006


def measure() -> float:
    start = time.process_time()
    sum(i * i for i in range(100_000))
    return time.process_time() - start


def find() -> float:
    """How many times the processor time of a usual machine is needed here, at least 1."""
    return max(1, min(measure() for _ in range(5)) / USUAL)
