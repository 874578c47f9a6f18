"""onnxruntime on a model built by hand; inputs and outputs are bound once."""

import time

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from bench.peers import Unable


class OnnxGraph:
    """Names of values in, names of values out."""

    def __init__(self):
        self.nodes, self.constants, self.inputs, self.outputs = [], [], {}, []

    def fresh(self) -> str:
        return f"v{len(self.nodes)}_{len(self.constants)}_{len(self.inputs)}"

    def input(self, array) -> str:
        name = f"input{len(self.inputs)}"
        self.inputs[name] = np.ascontiguousarray(array)
        return name

    def constant(self, array) -> str:
        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def add(self, op, *inputs, results=1, domain="", **attributes):
        names = [f"{self.fresh()}_{i}" for i in range(results)]
        node = helper.make_node(op, list(inputs), names, domain=domain, **attributes)
        self.nodes.append(node)
        return names[0] if results == 1 else names

    def output(self, name, permutation=None):
        """The permutation brings the result into JAX's order."""
        self.outputs.append((name, permutation))

    def model(self) -> bytes:
        inputs = [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
            )
            for name, array in self.inputs.items()
        ]
        outputs = [helper.make_empty_tensor_value_info(name) for name, _ in self.outputs]
        graph = helper.make_graph(self.nodes, "main", inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
        return onnx.shape_inference.infer_shapes(model).SerializeToString()


class InOnnxruntime:
    def __init__(self, case, threads):
        if not case.onnx:
            raise Unable("not built in ONNX")
        self.graph = OnnxGraph()
        case.onnx(self.graph, case.params, *case.inputs)
        data = self.graph.model()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        start = time.perf_counter()
        self.session = onnxruntime.InferenceSession(data, options, ["CPUExecutionProvider"])
        self.facts = {
            "compile_ms": (time.perf_counter() - start) * 1e3,
            "artifact_bytes": len(data),
        }
        self.binding = self.session.io_binding()
        for name, array in self.graph.inputs.items():
            self.binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
        first = self.session.run(None, self.graph.inputs)
        self.outputs = [onnxruntime.OrtValue.ortvalue_from_numpy(value) for value in first]
        for (name, _), value in zip(self.graph.outputs, self.outputs, strict=True):
            self.binding.bind_ortvalue_output(name, value)

    def results(self):
        self.call()
        values = [value.numpy() for value in self.outputs]
        return [
            value.transpose(permutation) if permutation else value
            for value, (_, permutation) in zip(values, self.graph.outputs, strict=True)
        ]

    def call(self):
        self.session.run_with_iobinding(self.binding)
