"""Fourier transforms. Complex numbers come and go as two arrays: not every peer has
such a type."""

import math

import jax.numpy as jnp
import numpy as np
from jax import lax

from bench.case import Case, Row, Work, normal


def count_flops(count, lines):
    """As everybody counts them: 5 n log n for each line."""
    return 5 * count * lines * math.log2(max(count, 2))


def complex_transform(batch, *lengths):
    re, im = normal(batch, *lengths), normal(batch, *lengths, seed=1)
    axes = tuple(range(1, len(lengths) + 1))

    def function(params, re, im):
        result = jnp.fft.fftn(lax.complex(re, im), axes=axes)
        return result.real, result.imag

    def numpy(params, re, im):
        import scipy.fft

        result = scipy.fft.fftn(re + np.complex64(1j) * im, axes=axes)
        return result.real, result.imag

    work = Work(count_flops(math.prod(lengths), batch), 2 * re.nbytes, 2 * re.nbytes)
    return Case(function, (re, im), work, numpy=numpy)


def smoothing(batch, length):
    """Real numbers to their spectrum, and a part of it back."""
    x = normal(batch, length)
    kept = np.exp(-np.linspace(0, 4, length // 2 + 1)).astype(np.float32)

    def function(params, x):
        return jnp.fft.irfft(jnp.fft.rfft(x) * params["kept"], length)

    def numpy(params, x):
        import scipy.fft

        return scipy.fft.irfft(scipy.fft.rfft(x) * params["kept"], length)

    work = Work(count_flops(length, batch), x.nbytes, x.nbytes)
    return Case(function, (x,), work, params={"kept": kept}, numpy=numpy)


ROWS = [
    Row("fft-lines", "FFT 64 × 1024", complex_transform, (64, 1024), (63, 1000)),
    Row("fft-long", "FFT 2^18", complex_transform, (1, 1 << 18), (1, 100_003)),
    Row("fft-plane", "FFT 512²", complex_transform, (1, 512, 512), (1, 1000, 999)),
    Row("fft-cube", "FFT 64³", complex_transform, (1, 64, 64, 64), (1, 60, 63, 61)),
    Row("rfft-lines", "real FFT and back 64 × 4096", smoothing, (64, 4096), (61, 3999)),
]
