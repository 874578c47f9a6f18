"""What loaded programs give: NumPy arrays that also speak DLPack in every type,
and show themselves in notebooks."""

import numpy as np

from alula import dlpack


class Array(np.ndarray):
    """A NumPy array; what is computed with it is a plain one."""

    __slots__ = ()

    def __array_wrap__(self, array, context=None, return_scalar=False):
        if return_scalar and array.shape == ():
            return array[()]
        return np.asarray(array)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return dlpack.export(
            np.asarray(self), stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
        )

    def __dlpack_device__(self):
        return dlpack.CPU, 0

    def _repr_html_(self):
        from alula import html

        return html.show_array(self)
