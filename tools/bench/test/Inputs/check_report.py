"""The rows of a report add up: the last four are of those before, by NumPy."""

import json
import sys

import numpy as np

report = json.load(open(sys.argv[1]))
assert {"date", "host_name", "executable", "num_cpus", "artifact", "variant", "threads"} <= set(
    report["context"]
)
*runs, mean, median, deviation, variation = report["benchmarks"]
assert [run["repetition_index"] for run in runs] == [0, 1, 2, 3]
assert {run["run_type"] for run in runs} == {"iteration"}
assert {(run["iterations"], run["time_unit"]) for run in runs} == {(3, "us")}
for time in ("real_time", "cpu_time"):
    times = np.array([run[time] for run in runs])
    expected = [times.mean(), np.median(times), times.std(ddof=1)]
    expected.append(expected[2] / expected[0])
    got = [row[time] for row in (mean, median, deviation, variation)]
    assert all(times > 0) and np.allclose(got, expected, rtol=1e-6), (got, expected)
names = [row["aggregate_name"] for row in (mean, median, deviation, variation)]
assert names == ["mean", "median", "stddev", "cv"]
