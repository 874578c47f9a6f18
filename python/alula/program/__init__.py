"""Classes whose arrays become globals and whose methods become entry points.

`declarations` and `classes` read the class, `slots` and `trace` run it once
with JAX's tracers, `merge` and `module` make one module of that, `instance`
compiles it and calls it."""

from alula.program.classes import Program
from alula.program.declarations import kernel, like
from alula.program.trace import store_global

__all__ = ["Program", "like", "kernel", "store_global"]
