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


def _through_jaxlib(path: str, version: str) -> tuple[bool, str]:
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    try:
        with open(path) as file:
            module = ir.Module.parse(file.read(), _context())
        data = stablehlo.serialize_portable_artifact(module, version)
        return True, str(stablehlo.deserialize_portable_artifact(_context(), data))
    except Exception as error:  # noqa: BLE001, whatever jaxlib raises
        return False, (str(error).splitlines() or [repr(error)])[0][:300]


class JaxlibReader:
    pool = None

    def read(self, path) -> tuple[bool, str]:
        """Whether jaxlib reads and verifies an artifact, and the text or the error."""
        return self._ask(_read, str(path))

    def through(self, path, version: str) -> tuple[bool, str]:
        """What jaxlib reads after it wrote the text itself."""
        return self._ask(_through_jaxlib, str(path), version)

    def _ask(self, function, *args) -> tuple[bool, str]:
        if not self.pool:
            self.pool = concurrent.futures.ProcessPoolExecutor(
                1, multiprocessing.get_context("spawn")
            )
        try:
            return self.pool.submit(function, *args).result(timeout=600)
        except concurrent.futures.process.BrokenProcessPool:
            self.pool.shutdown()
            self.pool = None
            return False, "jaxlib crashed"
