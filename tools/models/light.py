"""The classic networks of the onnx package: the structure is real, the weights are seeded and random.

The package stores weights as ConstantOfShape nodes. Random weights are scaled so that activations stay finite and neither
vanish nor saturate: a vanishing network would measure denormal arithmetic, and constants would be folded away.
"""
import zlib
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

SOURCES = ("light.py",)

# Name -> file of the package, and the standard deviation of the last weight: one that keeps Softmax from saturating.
LIGHT = {"resnet50": ("resnet50", 0.003), "vgg19": ("vgg19", 0.02), "densenet121": ("densenet121", None),
         "inception_v1": ("inception_v1", 0.01), "inception_v2": ("inception_v2", 0.002),
         "squeezenet": ("squeezenet", None), "shufflenet": ("shufflenet", 0.0025), "alexnet": ("bvlc_alexnet", 0.02)}


def build(name, path):
    file, classifier_std = LIGHT[name]
    model = onnx.load(Path(onnx.__file__).parent / f"backend/test/data/light/light_{file}.onnx")
    fill_weights(model.graph, np.random.default_rng(zlib.crc32(name.encode())), classifier_std)
    make_batch_symbolic(model.graph)
    # From IR 4 on an initializer need not be a graph input, and then it is constant.
    model.ir_version = 8
    constant = {tensor.name for tensor in model.graph.initializer}
    for value in [v for v in model.graph.input if v.name in constant]:
        model.graph.input.remove(value)
    onnx.save(model, path)


def fill_weights(graph, rng, classifier_std):
    """ConstantOfShape(shape) -> an initializer of that shape, distributed as the node that reads it needs.

    The few small tensors that kept trained values are drawn anew too: they do not fit random neighbours.
    """
    tensors = {t.name: t for t in graph.initializer}
    producer = {output: node for node in graph.node for output in node.output}
    readers = {}
    for node in graph.node:
        for i, operand in enumerate(node.input):
            readers.setdefault(operand, (node, i))
    branches = [[v for v in node.input if producer[v].op_type == "BatchNormalization"]
                for node in graph.node if node.op_type == "Sum"]
    residual = {values[0] for values in branches}

    def draw(name, shape):
        node, position = readers[name]
        while node.op_type in ("Unsqueeze", "Reshape"):
            node, position = readers[node.output[0]]
        if node.op_type == "Conv" and position == 1:
            return rng.standard_normal(shape) * (2 / np.prod(shape[1:])) ** 0.5
        if node.op_type == "Gemm" and position == 1:
            last = readers[node.output[0]][0].op_type == "Softmax"
            return rng.standard_normal(shape) * (classifier_std if last else max(shape) ** -0.5)
        if node.op_type == "BatchNormalization" and position == 4:
            return rng.uniform(0.5, 1.5, shape)
        if node.op_type == "Mul" or node.op_type == "BatchNormalization" and position == 1:
            # A branch that is added to the trunk gets a small scale, else variance doubles with every block.
            return rng.uniform(0.1, 0.4, shape) if node.output[0] in residual else rng.uniform(0.5, 1.5, shape)
        return rng.standard_normal(shape) * 0.1  # biases and means

    fills = [n for n in graph.node if n.op_type == "ConstantOfShape"]
    shapes = {n.output[0]: numpy_helper.to_array(tensors[n.input[0]]) for n in fills}
    shapes.update((t.name, list(t.dims)) for t in tensors.values()
                  if t.data_type == TensorProto.FLOAT and t.name in readers)
    for fill in fills:
        graph.node.remove(fill)
    used = {operand for node in graph.node for operand in node.input}
    for values in (graph.initializer, graph.input):
        for value in [v for v in values if v.name not in used or v.name in shapes]:
            values.remove(value)
    for name, shape in shapes.items():
        graph.initializer.append(numpy_helper.from_array(draw(name, shape).astype(np.float32), name))


def make_batch_symbolic(graph):
    """[1, ...] -> [N, ...] for inputs and outputs; a Reshape of activations copies its first dimension (0)."""
    tensors = {t.name: t for t in graph.initializer}
    for value in [v for v in (*graph.input, *graph.output) if v.name not in tensors]:
        value.type.tensor_type.shape.dim[0].dim_param = "N"
    for node in graph.node:
        if node.op_type == "Reshape" and node.input[0] not in tensors:
            shape = numpy_helper.to_array(tensors[node.input[1]]).copy()
            shape[0] = 0
            tensors[node.input[1]].CopyFrom(numpy_helper.from_array(shape, node.input[1]))
