"""A page in headless Chromium, where one is installed: what it looks like there, by
the protocol that browsers speak with their own tools."""

import base64
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def find_browser():
    """Its path; the test is skipped without one."""
    for name in NAMES:
        if path := shutil.which(name):
            return path
    pytest.skip(f"no browser: none of {', '.join(NAMES)} is on PATH")


class Page:
    """A tab. `problems` are what the browser says of the page: errors, and what it was
    not allowed to load."""

    def __init__(self, read, write):
        self._read, self._write = read, write
        self._number, self._session, self._left, self._events = 0, None, b"", []
        self.problems = []
        (target,) = (
            t for t in self._call("Target.getTargets")["targetInfos"] if t["type"] == "page"
        )
        attached = self._call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._call(f"{domain}.enable")

    def _receive(self):
        while b"\0" not in self._left:
            got = os.read(self._read, 1 << 20)
            assert got, "the browser has ended"
            self._left += got
        text, self._left = self._left.split(b"\0", 1)
        return json.loads(text)

    def _hear(self, message):
        method, told = message.get("method"), message.get("params", {})
        if method == "Log.entryAdded":
            self.problems.append(told["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            self.problems.append(str(told["exceptionDetails"]))
        elif method:
            self._events.append(method)

    def _call(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (got := self._receive()).get("id") != self._number:
            self._hear(got)
        assert "error" not in got, got["error"]
        return got["result"]

    def open(self, path, width=1280, height=900):
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        self._events.clear()
        self._call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        while "Page.loadEventFired" not in self._events:
            self._hear(self._receive())

    def evaluate(self, expression):
        """A value of JavaScript, which no policy of the page holds back."""
        result = self._call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def save_picture(self, path):
        """The whole page."""
        size = self._call("Page.getLayoutMetrics")["cssContentSize"]
        picture = self._call(
            "Page.captureScreenshot",
            captureBeyondViewport=True,
            clip={"x": 0, "y": 0, "scale": 1, "width": size["width"], "height": size["height"]},
        )
        pathlib.Path(path).write_bytes(base64.b64decode(picture["data"]))


@contextlib.contextmanager
def open_browser():
    """A page of a browser of its own, which knows no network."""
    browser = find_browser()
    to_browser, from_us = os.pipe()
    from_browser, to_us = os.pipe()
    # What it reads is its descriptor 3, what it writes 4.
    start = (
        f'exec 3<&{to_browser} 4>&{to_us}; exec "$0" --headless --no-sandbox --disable-gpu '
        "--disable-dev-shm-usage --hide-scrollbars --remote-debugging-pipe "
        '--host-resolver-rules="MAP * ~NOTFOUND" --user-data-dir="$1" about:blank'
    )
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(
            ["bash", "-c", start, browser, folder],
            pass_fds=(to_browser, to_us),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(to_us)
        try:
            yield Page(from_browser, from_us)
        finally:
            process.kill()
            process.wait()
            os.close(from_us)
            os.close(from_browser)
