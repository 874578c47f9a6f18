"""For all tests in Python."""

import os

# The plugin in .venv would be JAX's first choice; tests name it where they want
# it, and compare with XLA:CPU.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
