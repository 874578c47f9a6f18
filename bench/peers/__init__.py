"""Who is measured. Tools are processes of their own in each round; the others
live in a worker while their row is measured."""

TOOLS = ("alula", "iree", "alula-bf16", "alula-i8")
# Called from C or C++, as Alula's tool is; onnxruntime's and OpenVINO's calls come through
# their packages, with inputs and outputs that are there already.
FROM_C = ("iree", "onnxruntime", "openvino")
# Called from Python, as Alula in JAX is.
FROM_PYTHON = ("xla", "torch", "numpy")
# Those that results are held against.
OTHERS = (*FROM_C, *FROM_PYTHON)
# Each rounds as its counterpart: ours with `--accuracy`, and theirs.
ROUNDED = {"alula-bf16": "openvino-bf16", "alula-i8": "ggml"}
ALL = ("alula", *FROM_C, "alula-jax", *FROM_PYTHON)
# Of the largest error by the largest value, where products are rounded.
ROUNDED_TOLERANCE = 3e-2
EVERY = (*ALL, *(name for pair in ROUNDED.items() for name in pair))


class Unable(Exception):
    """This peer cannot say this row."""
