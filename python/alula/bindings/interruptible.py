"""Calls of C that Ctrl-C ends.

Python runs handlers of signals in its main thread, between two steps of Python, so a long call of C
there puts them off until it is done. Here the main thread waits while another one calls; what a
handler raises sets a flag that the call looks at, and comes out once the call has ended."""

import ctypes
import threading


class Cancel:
    """The flag: an int that C reads."""

    def __init__(self):
        self._flag = ctypes.c_int(0)

    @property
    def address(self):
        return ctypes.addressof(self._flag)

    def set(self):
        self._flag.value = 1


def call(function, arguments, cancel):
    """`function(*arguments)`. Handlers only run in the main thread: any other one calls by itself."""
    if threading.current_thread() is not threading.main_thread():
        return function(*arguments)
    results = []

    def work():
        try:
            results.append((function(*arguments), None))
        except BaseException as error:  # noqa: BLE001
            results.append((None, error))

    thread = threading.Thread(target=work, name="alula", daemon=True)
    raised = None
    try:
        thread.start()
        thread.join()
    except BaseException as error:  # noqa: BLE001
        raised = error
        cancel.set()
    # The arguments are in use until it is over, whatever else is raised.
    while thread.is_alive():
        try:
            thread.join()
        except BaseException as error:  # noqa: BLE001
            raised = raised or error
            cancel.set()
    if raised is not None:
        raise raised
    ((result, error),) = results
    if error is not None:
        raise error
    return result
