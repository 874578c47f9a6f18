"""OpenVINO on the models that onnxruntime has; inputs and outputs are bound once."""

import importlib.util
import time

import numpy as np

from bench.peers import Unable


class InOpenvino:
    """`precision` is its hint: "f32", or "bf16" for what it multiplies."""

    def __init__(self, case, threads, precision):
        if not case.onnx:
            raise Unable("not built in ONNX")
        if precision != "f32" and (case.work.kind != "f32" or not case.work.flops):
            raise Unable("no products of f32")
        if not importlib.util.find_spec("openvino"):
            raise Unable("not installed")
        import openvino

        from bench.peers.in_onnxruntime import OnnxGraph

        self.graph = OnnxGraph()
        case.onnx(self.graph, case.params, *case.inputs)
        if any(node.domain for node in self.graph.nodes):
            raise Unable("an operation of onnxruntime alone")
        data = self.graph.model()
        how = {
            "INFERENCE_PRECISION_HINT": precision,
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": 1,
            "ENABLE_CPU_PINNING": False,
            "PERFORMANCE_HINT": "LATENCY",
        }
        start = time.perf_counter()
        core = openvino.Core()
        model = core.compile_model(core.read_model(data), "CPU", how)
        self.facts = {
            "compile_ms": (time.perf_counter() - start) * 1e3,
            "artifact_bytes": len(data),
        }
        self.request = model.create_infer_request()
        self.inputs = [np.ascontiguousarray(value) for value in self.graph.inputs.values()]
        for i, value in enumerate(self.inputs):
            tensor = openvino.Tensor(value.reshape(model.input(i).shape), shared_memory=True)
            self.request.set_input_tensor(i, tensor)
        self.request.infer()

    def results(self):
        self.call()
        values = [
            np.array(self.request.get_output_tensor(i).data) for i in range(len(self.graph.outputs))
        ]
        return [
            value.transpose(permutation) if permutation else value
            for value, (_, permutation) in zip(values, self.graph.outputs, strict=True)
        ]

    def call(self):
        # `infer` would make a dictionary of results.
        self.request.start_async()
        self.request.wait()
