"""Calls of C that Ctrl-C ends.

Python runs handlers of signals in its main thread, between two steps of Python, so a long call of C
there puts them off until it is done. Here the main thread waits while another one calls (`call`);
what a handler raises sets a flag that the call looks at, and comes out once the call has ended.

A thread for each call is too much for what is mostly short: a `Watch` lets the main thread call
itself, and has another one told of SIGINT (by the wakeup fd of `signal`), which sets the flag."""

import ctypes
import functools
import os
import signal
import socket
import threading
import time


class Cancel:
    """The flag: an int that C reads."""

    def __init__(self):
        self._flag = ctypes.c_int(0)

    @property
    def address(self):
        return ctypes.addressof(self._flag)

    @property
    def is_set(self):
        return bool(self._flag.value)

    def set(self):
        self._flag.value = 1


def call(function, arguments, cancel):
    """`function(*arguments)`. Handlers only run in the main thread: any other one calls by itself."""
    if threading.current_thread() is not threading.main_thread():
        return function(*arguments)
    results, done = [], threading.Event()
    # Taken by whoever is first: the thread, or who gives the call up before it begins.
    begun = threading.Lock()

    def work():
        if not begun.acquire(blocking=False):
            return
        try:
            results.append((function(*arguments), None))
        except BaseException as error:  # noqa: BLE001
            results.append((None, error))
        finally:
            done.set()

    raised = None
    try:
        threading.Thread(target=work, name="alula", daemon=True).start()
    except BaseException as error:  # noqa: BLE001
        if begun.acquire(blocking=False):
            raise
        raised = error
        cancel.set()
    # The arguments are in use until it is over, whatever else is raised. Not by Thread.join: of
    # some Pythons, a join that is interrupted takes the thread for ended (bpo-45274's repair).
    while not done.is_set():
        try:
            done.wait()
        except BaseException as error:  # noqa: BLE001
            raised = raised or error
            cancel.set()
    if raised is not None:
        raise raised
    ((result, error),) = results
    if error is not None:
        raise error
    return result


# What ends this soon after the signal may: less is not worth losing its results for.
PATIENCE = 0.3


class Watch:
    """Ends calls when Ctrl-C comes while the main thread is in them, which `calls` knows, the
    extension's. Only if it is then to raise KeyboardInterrupt: whoever has a handler of their own
    decides for themselves."""

    def __init__(self, calls):
        self._calls = calls
        self._ours, self._theirs = socket.socketpair()
        self._theirs.setblocking(False)
        self._number = self._theirs.fileno()
        self._caught_up = threading.Event()
        threading.Thread(target=self._listen, name="alula-signals", daemon=True).start()
        calls.set_watch(self._number, self._catch_up, threading.get_ident())

    def _catch_up(self):
        """After an exception: a signal that caused it is not taken for one of a later call."""
        self._caught_up.clear()
        self._theirs.send(b"\0")
        self._caught_up.wait(1)

    def _listen(self):
        while True:
            numbers = self._ours.recv(4096)
            calls = self._calls.get_watched()
            if signal.SIGINT in numbers and calls:
                raises = signal.getsignal(signal.SIGINT) is signal.default_int_handler
                if raises:
                    threading.Thread(target=self._end_later, args=(calls,), daemon=True).start()
            for number in numbers:
                self._pass_on(number, calls)
            if 0 in numbers:
                self._caught_up.set()

    def _pass_on(self, number, calls):
        """To whoever was told before us: an event loop."""
        first = calls[0][1] if calls else -1
        if number and first not in (-1, self._number):
            try:
                os.write(first, bytes([number]))
            except OSError:
                pass

    def _end_later(self, calls):
        time.sleep(PATIENCE)
        for serial, _ in calls:
            self._calls.cancel(serial)


def watch(calls):
    """Lets Ctrl-C end calls of the main thread, from its first one on, and in a child too, which has
    no thread that listens."""
    calls.set_watch(-1, functools.partial(Watch, calls), threading.main_thread().ident)


def watch_everywhere(calls):
    watch(calls)
    os.register_at_fork(after_in_child=functools.partial(watch, calls))
