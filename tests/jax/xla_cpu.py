"""Runs a StableHLO program on XLA:CPU."""

import jax
import numpy as np
from jax._src import compiler, xla_bridge
from jaxlib import xla_client


def run(program: str | bytes, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """Runs main of a module (text or portable artifact) on one device."""
    backend = xla_bridge.get_backend("cpu")
    device = backend.local_devices()[0]
    executable = backend.compile_and_load(
        program,
        xla_client.DeviceList((device,)),
        compiler.get_compile_options(num_replicas=1, num_partitions=1),
    )
    # Whoever imported JAX first may not have asked for 64 bits.
    with jax.enable_x64(True):
        arguments = [jax.device_put(array, device) for array in inputs]
    results = executable.execute_sharded(arguments)
    return [np.asarray(shards[0]) for shards in results.disassemble_into_single_device_arrays()]
