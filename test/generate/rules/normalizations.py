"""Norms and softmax."""
import numpy as np

import values
from draw import Arg, Node

SOME = values.TAME


def softmax(g):
    shape = g.shape(1, 4, least=1)
    return Node([g.arg(g.dtype(), shape, values.TAME)], g.attributes(axis=g.axis(len(shape)) if g.flag() else None))


def positive(g, dtype, shape):
    return Arg(np.abs(g.array(dtype, shape, SOME)) + dtype(0.5))


def layer_norm(g):
    shape, dtype = g.shape(1, 4, least=1), g.dtype()
    axis = g.axis(len(shape))
    row = shape[axis:]
    inputs = [g.arg(dtype, shape, SOME), g.arg(dtype, row, SOME)]
    if g.op == "LayerNormalization" and g.flag():
        inputs.append(g.arg(dtype, row, SOME))
    return Node(inputs, g.attributes(axis=axis, epsilon=g.number(0.1)))


def batch_norm(g):
    shape, dtype = g.shape(2, 4, least=1), g.dtype()
    one = lambda: g.arg(dtype, shape[1:2], SOME)  # noqa: E731
    return Node([g.arg(dtype, shape, SOME), one(), one(), one(), positive(g, dtype, shape[1:2])], g.attributes(epsilon=g.number(0.1)))


def instance_norm(g):
    shape, dtype = g.shape(3, 4, least=1), g.dtype()
    return Node([g.arg(dtype, shape, SOME), g.arg(dtype, shape[1:2], SOME), g.arg(dtype, shape[1:2], SOME)], g.attributes(epsilon=g.number(0.1)))


def group_norm(g):
    groups, per_group, dtype = g.pick((1, 2, 3)), g.pick((1, 2)), g.dtype()
    shape = (g.pick((1, 2)), groups * per_group, *g.shape(1, 2, least=1))
    scale = (groups,) if g.version < 21 else (groups * per_group,)
    return Node([g.arg(dtype, shape, SOME), g.arg(dtype, scale, SOME), g.arg(dtype, scale, SOME)], g.attributes(num_groups=groups, epsilon=g.number(0.1)))


def lrn(g):
    return Node([g.arg(g.dtype(), g.shape(4, 4, least=1), SOME)], g.attributes(size=g.pick((1, 3, 5)), alpha=g.number(0.1), beta=g.number(0.5), bias=g.number(2.0)))


def lp_norm(g):
    shape = g.shape(1, 4, least=1)
    return Node([positive(g, g.dtype(), shape)], g.attributes(axis=g.axis(len(shape)), p=g.pick((None, 1))))


def mean_variance(g):
    return Node([g.arg(g.dtype(), g.shape(4, 4, least=1), ("random",))], {})


RULES = {"Softmax": softmax, "LogSoftmax": softmax, "Hardmax": softmax, "LayerNormalization": layer_norm, "RMSNormalization": layer_norm,
         "BatchNormalization": batch_norm, "InstanceNormalization": instance_norm, "GroupNormalization": group_norm, "LRN": lrn, "LpNormalization": lp_norm,
         "MeanVarianceNormalization": mean_variance}
