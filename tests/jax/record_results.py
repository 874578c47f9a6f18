"""A pytest plugin: writes a line for each test, at its start and its end, and
leaves out what has ended already. So a run that died goes on after the test
that killed it, and one that was interrupted goes on with the test it was at.

Environment: ALULA_RESULTS names the file, ALULA_SHARD is "index/count",
ALULA_SLICE the seconds after which the process stops itself, between two
tests, until its parent continues it: so two platforms take turns."""

import ctypes
import json
import os
import signal
import sys
import time

PATH = os.environ["ALULA_RESULTS"]
INDEX, COUNT = map(int, os.environ.get("ALULA_SHARD", "0/1").split("/"))
SLICE = float(os.environ.get("ALULA_SLICE", "0"))
STARTED = float(os.environ.get("ALULA_STARTED", time.time()))
PR_SET_PDEATHSIG = 1

slice_start = time.monotonic()
test_start = None
# Who is stopped would wait for ever for a parent that died.
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _write(**row):
    with open(PATH, "a") as out:
        out.write(json.dumps(row) + "\n")


def _seen():
    if not os.path.exists(PATH):
        return set()
    with open(PATH) as rows:
        return {json.loads(row).get("test") for row in rows}


def _pretend_to_be_a_cpu():
    """JAX's tests ask what kind of device they are on: a CPU, on Alula too. What
    they use for it is not imported here, but once the tests are: it keeps the
    standard output of that moment."""
    test_util = sys.modules.get("jax._src.test_util")
    if test_util and os.environ.get("JAX_PLATFORMS", "").startswith("alula"):
        tags = test_util._get_device_tags
        test_util._get_device_tags = lambda: tags() | {"cpu"}


def pytest_collection_modifyitems(config, items):
    _pretend_to_be_a_cpu()
    seen = _seen()
    total = len(items)
    mine = [item for i, item in enumerate(items) if i % COUNT == INDEX]
    items[:] = [item for item in mine if item.nodeid not in seen]
    _write(
        collected=len(mine),
        total=total,
        seconds=time.time() - STARTED,
        cpu=time.process_time(),
    )


def pytest_runtest_logstart(nodeid, location):
    global test_start
    test_start = time.monotonic(), time.process_time()
    _write(start=nodeid, at=time.time())


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        text = ""
        if report.outcome == "failed":
            crash = getattr(report.longrepr, "reprcrash", None)
            text = crash.message if crash else str(report.longrepr)
        # Both ends tell: what it is, and what the compiler says.
        text = text if len(text) < 2000 else text[:600] + " … " + text[-1400:]
        # A failing teardown counts as well: the last line of a test wins.
        _write(test=report.nodeid, outcome=report.outcome, text=text)


def pytest_runtest_logfinish(nodeid, location):
    global slice_start
    wall, cpu = test_start
    _write(end=nodeid, seconds=time.monotonic() - wall, cpu=time.process_time() - cpu)
    if SLICE and time.monotonic() - slice_start > SLICE:
        os.kill(os.getpid(), signal.SIGSTOP)
        slice_start = time.monotonic()


def pytest_collectreport(report):
    if report.failed:
        _write(test=report.nodeid, outcome="failed", text=str(report.longrepr)[-2000:])


def pytest_sessionfinish(session):
    _write(finished=f"{INDEX}/{COUNT}")
