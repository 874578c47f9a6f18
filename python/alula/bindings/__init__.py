"""The public C headers, by ctypes: `runtime` and `compiler`."""
