"""Element by element, with broadcasting."""
from functools import partial

import numpy as np
from onnx import helper

import values
from draw import Arg, Node


def unary(g, **options):
    attributes = {name: g.number(*choices) for name, choices in options.items()}
    return Node([g.arg(g.dtype(), g.shape())], g.attributes(**attributes))


UNARY = {
    **dict.fromkeys("Abs Neg Ceil Floor Round Sqrt Exp Log Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh Erf Sigmoid Softplus "
                    "Softsign Relu HardSwish Mish Sign Reciprocal Not BitwiseNot IsNaN Identity Swish".split(), {}),
    "LeakyRelu": {"alpha": (0.5, -1.0, 0.0)}, "Elu": {"alpha": (0.5, -1.0)}, "Selu": {"alpha": (1.0, 2.0), "gamma": (0.5,)},
    "Celu": {"alpha": (0.5, 2.0)}, "HardSigmoid": {"alpha": (0.5,), "beta": (0.25, -1.0)}, "ThresholdedRelu": {"alpha": (0.0, 0.5, -1.0)},
    "Gelu": {"approximate": ("tanh", "none")}, "IsInf": {"detect_positive": (0, 1), "detect_negative": (0, 1)},
    "Shrink": {"bias": (0.5,), "lambd": (0.0, 1.0)},
}


def nonzero_divisor(divisor):
    """Division of integers by zero, and of the least by -1, ends the process of ONNX Runtime: docs/semantics.md has them."""
    if not np.issubdtype(divisor.dtype, np.integer):
        return divisor
    return np.where(np.isin(divisor, (0, -1)), 3, divisor).astype(divisor.dtype)


def binary(g, divides=False, **options):
    dtype, shape = g.dtype(), g.shape()
    left, right = g.array(dtype, g.broadcast_from(shape)), g.array(dtype, shape)
    if g.flag():
        left, right = right, left
    attributes = {name: g.number(*choices) for name, choices in options.items()}
    if divides:
        right = nonzero_divisor(right)
    return Node([Arg(left), Arg(right)], g.attributes(**attributes))


def mod(g):
    node = binary(g, divides=True)
    is_float = np.issubdtype(node.inputs[0].array.dtype, np.floating)
    return Node(node.inputs, {"fmod": 1} if is_float or g.flag() else {})


def power(g):
    """Small exponents of integers: what overflows has no answer."""
    base, exponent = g.dtype(0), g.dtype(1) if g.version >= 12 else None
    shape = g.shape()
    kinds = values.TAME if np.issubdtype(base, np.integer) else values.KINDS
    left = g.array(base, g.broadcast_from(shape), kinds)
    right = g.array(exponent or base, shape, kinds)
    if np.issubdtype(base, np.integer):
        right = (np.abs(right).astype(np.int64) % 4).astype(right.dtype)
    return Node([Arg(left), Arg(right)], {})


def shift(g):
    dtype, shape = g.dtype(), g.shape()
    by = values.make(dtype, shape, "small", 0) % (dtype(0).itemsize * 8)
    return Node([g.arg(dtype, g.broadcast_from(shape)), Arg(by.astype(dtype))], {"direction": g.pick(("LEFT", "RIGHT"))})


def variadic(g):
    dtype, shape = g.dtype(), g.shape()
    return Node([g.arg(dtype, g.broadcast_from(shape) if i else shape) for i in range(1 + g.below(3))], {})


def where(g):
    dtype, shape = g.dtype(1), g.shape()
    return Node([g.arg(np.bool_, g.broadcast_from(shape)), g.arg(dtype, shape), g.arg(dtype, g.broadcast_from(shape))], {})


def prelu(g):
    dtype, shape = g.dtype(), g.shape(1)
    return Node([g.arg(dtype, shape), g.arg(dtype, g.broadcast_from(shape), values.TAME)], {})


def clip(g):
    dtype, shape = g.dtype(), g.shape()
    low, high = g.pick((None, 0, 1)), g.pick((None, 2, 1, 0))
    if g.has_attribute("min"):
        return Node([g.arg(dtype, shape)], g.attributes(min=None if low is None else float(low), max=None if high is None else float(high)))
    bounds = [Arg(None if bound is None else np.array(bound, dtype)) for bound in (low, high)]
    return Node([g.arg(dtype, shape), *bounds], {})


def cast(g):
    """Out of its range a float has no integer (docs/semantics.md): only tame values go there."""
    source, target = g.dtype(), g.pick(values.NUMBERS + (np.bool_,))
    is_float = [np.issubdtype(t, np.floating) for t in (source, target)]
    array = g.array(source, g.shape(), values.TAME if is_float == [True, False] else values.KINDS)
    if is_float == [True, False] and np.issubdtype(target, np.unsignedinteger):
        array = np.abs(array)
    return Node([Arg(array)], {"to": helper.np_dtype_to_tensor_dtype(np.dtype(target))})


RULES = {op: partial(unary, **options) for op, options in UNARY.items()}
RULES |= {op: binary for op in "Add Sub Mul And Or Xor BitwiseAnd BitwiseOr BitwiseXor Equal Less Greater LessOrEqual GreaterOrEqual".split()}
RULES |= {op: variadic for op in "Max Min Sum Mean".split()}
def bit_cast(g):
    """To a type of the same width."""
    dtype = g.dtype()
    like = [t for t in values.NUMBERS if np.dtype(t).itemsize == np.dtype(dtype).itemsize]
    return Node([g.arg(dtype, g.shape())], {"to": helper.np_dtype_to_tensor_dtype(np.dtype(g.pick(like)))})


RULES |= {"Div": partial(binary, divides=True), "Mod": mod, "Pow": power, "BitShift": shift, "Where": where, "PRelu": prelu, "Clip": clip, "Cast": cast, "BitCast": bit_cast}
