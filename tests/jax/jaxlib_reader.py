"""Reads portable artifacts with jaxlib, in a process of its own: a broken file
may crash it."""

import concurrent.futures
import concurrent.futures.process
import functools
import multiprocessing


@functools.cache
def _context():
    from jax._src.interpreters import mlir

    return mlir.make_ir_context()


def _read(path: str) -> tuple[bool, str]:
    from jaxlib.mlir.dialects import stablehlo

    try:
        with open(path, "rb") as file:
            module = stablehlo.deserialize_portable_artifact(_context(), file.read())
        module.operation.verify()
        return True, str(module)
    except Exception as error:  # noqa: BLE001, whatever jaxlib raises
        return False, (str(error).splitlines() or [repr(error)])[0][:300]


class JaxlibReader:
    pool = None

    def read(self, path) -> tuple[bool, str]:
        """Whether jaxlib reads and verifies it, and the text or the error."""
        if not self.pool:
            self.pool = concurrent.futures.ProcessPoolExecutor(
                1, multiprocessing.get_context("spawn")
            )
        try:
            return self.pool.submit(_read, str(path)).result(timeout=60)
        except concurrent.futures.process.BrokenProcessPool:
            self.pool.shutdown()
            self.pool = None
            return False, "jaxlib crashed"
