"""A pytest plugin: writes one line for each test, at its start and its end, and
leaves out what is written already. So a run that died goes on after the test
that killed it.

Environment: ALULA_RESULTS names the file, ALULA_SHARD is "index/count"."""

import json
import os

PATH = os.environ["ALULA_RESULTS"]
INDEX, COUNT = map(int, os.environ.get("ALULA_SHARD", "0/1").split("/"))


def _write(**row):
    with open(PATH, "a") as out:
        out.write(json.dumps(row) + "\n")


def _seen():
    if not os.path.exists(PATH):
        return set()
    with open(PATH) as rows:
        return {json.loads(row).get("start") for row in rows}


def pytest_collection_modifyitems(config, items):
    seen = _seen()
    mine = [item for i, item in enumerate(items) if i % COUNT == INDEX]
    items[:] = [item for item in mine if item.nodeid not in seen]
    _write(collected=len(mine))


def pytest_runtest_logstart(nodeid, location):
    _write(start=nodeid)


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


def pytest_collectreport(report):
    if report.failed:
        _write(test=report.nodeid, outcome="failed", text=str(report.longrepr)[-2000:])


def pytest_sessionfinish(session):
    _write(finished=True)
