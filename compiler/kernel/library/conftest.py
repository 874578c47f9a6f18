"""Set before NumPy is imported: the matrices here are too small for threads to
pay."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
