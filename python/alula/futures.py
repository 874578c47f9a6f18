"""What an asynchronous call gives."""

import concurrent.futures


class CallFuture(concurrent.futures.Future):
    """A call that runs: `result()`, `done()`, `add_done_callback()` as of any
    future, and `await`."""

    # Sets what the call looks at; None: it can't be ended.
    ask_to_end = None

    def __await__(self):
        import asyncio

        return asyncio.wrap_future(self).__await__()

    def cancel(self):
        """Ends the call soon, also while it runs: `result()` raises
        CancelledError then. False if it is done."""
        if self.done():
            return False
        if self.ask_to_end is None:
            return super().cancel()
        self.ask_to_end()
        return True

    def end_cancelled(self):
        """The call has ended because of `cancel`."""
        super().cancel()
        self.set_running_or_notify_cancel()
