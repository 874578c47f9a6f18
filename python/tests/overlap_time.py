"""The time of a step whose sum goes over the network beside its products, to that of the
same step with the sum first, in pairs; the network is slowed down until it takes as long
as the products do. Needs the rights for a network of its own, and a machine that nobody
else uses: the two processes compute on a core each.

    python python/tests/overlap_time.py      exits with 1 where the median is 0.9 or more
"""

import statistics
import sys
import tempfile
from pathlib import Path

from test_overlap import run

# A network of which all that is sent takes time, but no processor's.
# What is on its way is little: no message waits so long that TCP sends it again.
SLOW = (
    "ip link set lo up && tc qdisc add dev lo root tbf rate {:.0f} burst 256k latency 9s"
    " && echo 4096 65536 131072 >/proc/sys/net/ipv4/tcp_wmem"
    " && echo 4096 65536 131072 >/proc/sys/net/ipv4/tcp_rmem"
)
SENT_BITS = 8 * 4 * 2**21  # by both processes in a step
LARGEST_RATE = 4e8


def main():
    with tempfile.TemporaryDirectory() as folder:
        _, seconds = run(Path(folder) / "fast")
        rate = min(SENT_BITS / seconds, LARGEST_RATE)
        shell = ("unshare", "-n", "sh", "-c")
        factors, _ = run(Path(folder) / "slow", shell, SLOW.format(rate))
    median = statistics.median(factors)
    print(f"{rate / 1e6:.0f} Mbit/s; factors {sorted(factors)}, median {median:.2f}")
    return int(median >= 0.9)


if __name__ == "__main__":
    sys.exit(main())
