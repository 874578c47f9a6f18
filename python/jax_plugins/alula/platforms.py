"""What JAX calls our platforms, and the runtime's devices that they are; none: the
plugin's own, or what ALULA_DEVICE says."""

DEVICES = {"alula": None, "alula_cuda": "cuda"}
