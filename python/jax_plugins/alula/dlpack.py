"""DLPack out of arrays on Alula's devices, in the host's memory: JAX knows its own
platforms alone."""

import functools

from jax_plugins.alula import platforms


def register() -> None:
    from jax._src import array

    kind = array.ArrayImpl
    if getattr(kind.__dlpack__, "knows_alula", False):
        return
    kind.__dlpack__ = _extend(kind.__dlpack__, _export)
    kind.__dlpack_device__ = _extend(kind.__dlpack_device__, _get_device)


def _extend(theirs, ours):
    @functools.wraps(theirs)
    def method(self, **options):
        return (ours if self.platform() in platforms.DEVICES else theirs)(self, **options)

    method.knows_alula = True
    return method


def _check(array):
    if len(array.sharding.device_set) > 1:
        raise BufferError(
            f"__dlpack__: the array is on {len(array.sharding.device_set)} devices: take one "
            "of its addressable_shards"
        )


def _export(array, **options):
    import numpy as np
    from alula import dlpack

    _check(array)
    # JAX keeps what is shown to NumPy from being donated.
    return dlpack.export(np.asarray(array), is_read_only=True, **options)


def _get_device(array):
    from alula import dlpack

    _check(array)
    return dlpack.CPU, 0
