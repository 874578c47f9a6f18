"""NumPy and its OpenBLAS."""

from threadpoolctl import threadpool_limits

from bench.peers import Unable


class InNumpy:
    def __init__(self, case, threads):
        if not case.numpy:
            raise Unable("not written in NumPy")
        self.limits = threadpool_limits(threads)
        self.case, self.facts = case, {}

    def results(self):
        result = self.case.numpy(self.case.params, *self.case.inputs)
        return list(result) if isinstance(result, tuple) else [result]

    def call(self):
        self.case.numpy(self.case.params, *self.case.inputs)
