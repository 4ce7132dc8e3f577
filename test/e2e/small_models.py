"""Models of a few nodes, in ONNX text syntax or built node by node, for tests that need one of a certain kind."""
import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, helper, numpy_helper


def parse(text):
    """The model of a text in ONNX syntax; a header is added to a graph without one."""
    return onnx.parser.parse_model(text if text.lstrip().startswith("<") else f'<ir_version: 8, opset_import: ["" : 17]> {text}')


def add_model():
    """y = x + b over a symbolic dim that both inputs have."""
    return parse("g (float[N,4] x, float[N,4] b) => (float[N,4] y) { [sum] y = Add (x, b) }")


def weight(rng, *shape):
    return (rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)


def convnet(weights_are_inputs=False):
    """Convolutions of each kind (dense, depthwise, strided, pointwise), a residual, pooling and a classifier.

    Returns the model and its weights by name. With `weights_are_inputs` these must be given with each run.
    """
    rng = np.random.default_rng(7)
    weights = {"stem.w": weight(rng, 16, 3, 3, 3), "stem.b": weight(rng, 16), "deep.w": weight(rng, 16, 1, 3, 3),
               "point.w": weight(rng, 16, 16, 1, 1), "down.w": weight(rng, 24, 16, 3, 3), "fc.w": weight(rng, 10, 24),
               "fc.b": weight(rng, 10)}
    node = helper.make_node
    same = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    nodes = [node("Conv", ["x", "stem.w", "stem.b"], ["a"], "stem", strides=[2, 2], **same), node("Relu", ["a"], ["a1"], "relu"),
             node("Conv", ["a1", "deep.w"], ["d"], "deep", group=16, **same), node("Clip", ["d", "low", "high"], ["d1"], "relu6"),
             node("Conv", ["d1", "point.w"], ["p"], "point", kernel_shape=[1, 1]), node("Add", ["p", "a1"], ["r"], "residual"),
             node("Conv", ["r", "down.w"], ["e"], "down", strides=[2, 2], **same), node("Sigmoid", ["e"], ["s"], "sigmoid"),
             node("Mul", ["e", "s"], ["e1"], "swish"), node("GlobalAveragePool", ["e1"], ["g"], "pool"),
             node("Flatten", ["g"], ["f"], "flat"), node("Gemm", ["f", "fc.w", "fc.b"], ["y"], "fc", transB=1)]
    value = helper.make_tensor_value_info
    inputs = [value("x", TensorProto.FLOAT, ["N", 3, "H", "W"])]
    tensors = [numpy_helper.from_array(np.float32(0), "low"), numpy_helper.from_array(np.float32(6), "high")]
    if weights_are_inputs:
        inputs += [value(name, TensorProto.FLOAT, array.shape) for name, array in weights.items()]
    else:
        tensors += [numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "convnet", inputs, [value("y", TensorProto.FLOAT, ["N", 10])], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), weights
