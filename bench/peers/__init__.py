"""Who is measured. Tools are processes of their own in each round; the others
live in a worker while their row is measured."""

TOOLS = ("alula", "iree")
WORKERS = ("alula-jax", "xla", "onnxruntime", "numpy")
# Those that results are held against.
OTHERS = ("xla", "iree", "onnxruntime", "numpy")
ALL = ("alula", "alula-jax", *OTHERS)


class Unable(Exception):
    """This peer cannot say this row."""
