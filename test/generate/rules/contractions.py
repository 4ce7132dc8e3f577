"""Products of matrices, and quantization."""
import numpy as np

import values
from draw import Arg, Node

SOME = values.TAME + ("special",)


def matmul_shapes(g):
    lead = g.shape(0, 2)
    m, k, n = g.size(), g.size(), g.size()
    left, right = (g.broadcast_from(lead) if g.flag() else lead) + (m, k), lead + (k, n)
    if g.flag(6):
        left = (k,)
    elif g.flag(6):
        right = (k,)
    return left, right


def matmul(g):
    left, right = matmul_shapes(g)
    dtype = g.dtype()
    return Node([g.arg(dtype, left, SOME), g.arg(dtype, right, SOME)], {})


def matmul_integer(g):
    left, right = matmul_shapes(g)
    a, b = g.pick((np.uint8, np.int8)), g.pick((np.uint8, np.int8))
    zeros = [Arg(np.array(g.pick((0, 1, 3)), dtype)) if g.flag() else Arg(None) for dtype in (a, b)]
    return Node([g.arg(a, left), g.arg(b, right), *zeros], {})


def gemm(g):
    dtype, (m, k, n) = g.dtype(), (g.size(), g.size(), g.size())
    trans_a, trans_b = g.pick((None, 1)), g.pick((None, 1))
    a, b = (k, m) if trans_a else (m, k), (n, k) if trans_b else (k, n)
    inputs = [g.arg(dtype, a, SOME), g.arg(dtype, b, SOME)]
    if g.version < 11 or g.flag():
        inputs.append(g.arg(dtype, g.broadcast_from((m, n)), SOME))
    floats = np.issubdtype(dtype, np.floating)
    return Node(inputs, g.attributes(transA=trans_a, transB=trans_b, alpha=g.number(0.5, 2.0, 0.0) if floats else None,
                                     beta=g.number(0.5, 2.0, 0.0) if floats else None))


EQUATIONS = ("ij,jk->ik", "ij->ji", "ii->i", "ij,kj->ik", "bij,bjk->bik", "i,j->ij", "ij->", "ij,ij->i", "...i,...i->...", "ij,jk", "ijk,jil->kl")


def einsum(g):
    equation = g.pick(EQUATIONS)
    sizes = {letter: g.size(1) for letter in "ijkbl"}
    dtype = g.dtype()
    terms = equation.split("->")[0].replace("...", "").split(",")
    return Node([g.arg(dtype, tuple(sizes[letter] for letter in term), SOME) for term in terms], {"equation": equation})


def scale_and_zero(g, dtype, shape, axis):
    """One of each, or one for each index of an axis."""
    count = (shape[axis],) if axis is not None else ()
    scale = Arg((values.make(np.float32, count, "small", 0) % 4 / 4 + np.float32(0.25)).astype(np.float32))
    zero = Arg(values.make(dtype, count, "small", 0)) if g.flag() else Arg(None)
    return scale, zero


def quantize(g):
    shape = g.shape(1, 4, least=1)
    axis = g.below(len(shape)) if g.version >= 13 and g.flag() else None
    dtype = g.pick((np.uint8, np.int8))
    scale, zero = scale_and_zero(g, dtype, shape, axis)
    if zero.array is None and dtype == np.int8:
        zero = Arg(np.zeros(scale.array.shape, dtype))
    data = np.nan_to_num(g.array(np.float32, shape), nan=1)  # a NaN has no integer (docs/semantics.md)
    return Node([Arg(data), scale, zero], g.attributes(axis=axis))


def dequantize(g):
    shape = g.shape(1, 4, least=1)
    axis = g.below(len(shape)) if g.version >= 13 and g.flag() else None
    dtype = g.pick((np.uint8, np.int8, np.int32))
    scale, zero = scale_and_zero(g, dtype, shape, axis)
    return Node([g.arg(dtype, shape), scale, Arg(None) if dtype == np.int32 else zero], g.attributes(axis=axis))


def dynamic_quantize(g):
    return Node([g.arg(np.float32, g.shape(0, 3, least=1), values.TAME)], {}, outputs=3)


RULES = {"MatMul": matmul, "MatMulInteger": matmul_integer, "Gemm": gemm, "Einsum": einsum, "QuantizeLinear": quantize, "DequantizeLinear": dequantize,
         "DynamicQuantizeLinear": dynamic_quantize}
