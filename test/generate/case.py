"""A case: one node, its inputs, and how it is compiled and run; written as a folder like those of ONNX's node tests."""
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from choices import Choices
from draw import Draw
from rules import RULES

LEVELS, THREADS = (2, 0, 1, 3), (1, 2)


class NoCase(Exception):
    """The drawn node can not be a case: ONNX Runtime refuses it, or it is known not to give the answer."""


class Case:
    def __init__(self, op, choices):
        self.op, self.choices = op, choices
        draw = Draw(choices, op)
        self.version = draw.version
        self.level, self.threads, self.is_symbolic = choices.pick(LEVELS), choices.pick(THREADS), choices.flag()
        self.node = RULES[op](draw)
        # Of what compilers like to know, most is constant.
        self.constant = [argument.array is not None and (not choices.flag(4) if argument.is_number else choices.flag(3)) for argument in self.node.inputs]

    @property
    def name(self):
        return f"{self.op}:{','.join(map(str, self.choices.made))}"

    @property
    def settings(self):
        return self.level, self.threads

    def describe(self):
        inputs = [("absent" if argument.array is None else f"{'constant ' if constant else ''}{argument.array.dtype}{list(argument.array.shape)}")
                  for argument, constant in zip(self.node.inputs, self.constant)]
        how = f"-O{self.level}, {self.threads} thread(s), {'symbolic' if self.is_symbolic else 'static'}"
        return f"{self.op} of opset {self.version}, {', '.join(inputs)}, {self.node.attributes}, {how}"

    def model(self, results=None):
        """With `results`, the outputs are typed by them; without, they are left to be inferred."""
        names, inputs, tensors = [], [], []
        for i, (argument, constant) in enumerate(zip(self.node.inputs, self.constant)):
            names.append("" if argument.array is None else f"x{i}")
            if argument.array is None:
                continue
            if constant:
                tensors.append(numpy_helper.from_array(argument.array, names[-1]))
            else:
                dims = [f"x{i}_{d}" for d in range(argument.array.ndim)] if self.is_symbolic else argument.array.shape
                inputs.append(helper.make_tensor_value_info(names[-1], helper.np_dtype_to_tensor_dtype(argument.array.dtype), dims))
        outputs = [f"y{i}" for i in range(self.node.outputs)]
        node = helper.make_node(self.op, names, outputs, **self.node.attributes)
        if results is None:
            infos = [helper.make_empty_tensor_value_info(name) for name in outputs]
        else:
            infos = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), None) for name, value in zip(outputs, results)]
        graph = helper.make_graph([node], "case", inputs, infos, tensors)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.version)], ir_version=10)

    def inputs(self):
        return {f"x{i}": argument.array for i, (argument, constant) in enumerate(zip(self.node.inputs, self.constant))
                if argument.array is not None and not constant}

    def expected(self):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level, options.intra_op_num_threads = 4, 1
        try:
            session = onnxruntime.InferenceSession(self.model().SerializeToString(), options, providers=["CPUExecutionProvider"])
            return [np.asarray(value) for value in session.run(None, self.inputs())]
        except Exception as error:  # it has no common base class for what it throws
            raise NoCase(str(error)) from error

    def write(self, folder):
        """model.onnx and test_data_set_0."""
        results, data = self.expected(), Path(folder) / "test_data_set_0"
        data.mkdir(parents=True)
        onnx.save(self.model(results), Path(folder) / "model.onnx")
        tensors = [("input", list(self.inputs().values())), ("output", results)]
        for kind, arrays in tensors:
            for i, array in enumerate(arrays):
                (data / f"{kind}_{i}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())


def draw_case(op, seed):
    return Case(op, Choices(seed=seed))


def replay_case(name):
    """The case of a name: "Relu:0,3,1"."""
    op, numbers = name.split(":")
    return Case(op, Choices(replay=[int(number) for number in numbers.split(",") if number]))
