"""Where ONNX Runtime does not give the specification's answer, or none exact enough to compare with."""
import numpy as np


def has_type(dtype):
    return lambda case: case.node.inputs[0].array.dtype == dtype


def is_integer(case):
    return np.issubdtype(case.node.inputs[0].array.dtype, np.integer)


def is_empty(case):
    return case.node.inputs[0].array.size == 0


def has_gaps(case):
    """Windows further apart than they are long, with pads that follow from the size of the result."""
    attributes = case.node.attributes
    kernel, strides = attributes.get("kernel_shape", []), attributes.get("strides", [])
    dilations = attributes.get("dilations", [1] * len(kernel))
    return "SAME" in attributes.get("auto_pad", "") and any((k - 1) * d + 1 < s for k, d, s in zip(kernel, dilations, strides))


# (operators, whether it holds of a case, why)
KNOWN = [
    ("Mish Softplus Softsign Gelu Celu Selu HardSwish MeanVarianceNormalization LpNormalization GroupNormalization LRN", has_type(np.float16),
     "runs as several operators, each of which rounds to half precision"),
    ("Sign", has_type(np.float16), "says 0 of what is no number"),
    ("ReduceMin ReduceMax", has_type(np.float16), "passes over what is no number"),
    ("ReduceMean", is_empty, "says 0 of no elements, where a quotient by their number is NaN"),
    ("MatMulInteger", is_empty, "leaves sums of no products unset"),
    ("Shrink", has_type(np.float64), "compares in single precision"),
    ("Shrink", is_integer, "adds in single precision"),
    ("ConvTranspose", has_gaps, "gives fewer than input * stride positions"),
    ("ReduceLogSumExp", is_integer, "adds exponentials that are cut to integers"),
]


def reason_to_skip(case):
    return next((why for operators, holds, why in KNOWN if case.op in operators.split() and holds(case)), None)
