"""Over axes: sums, greatest values, sorting."""
import numpy as np

import values
from draw import Arg, Node, numbers


def reduce(g, kinds=values.TAME + ("special",)):
    dtype, shape = g.dtype(), g.shape()
    if g.op == "ReduceProd":
        kinds = ("ties",)
    data = g.arg(dtype, shape, kinds)
    if g.op in ("ReduceLogSum", "ReduceL2", "ReduceLogSumExp") or np.issubdtype(dtype, np.integer):
        data = Arg(np.abs(data.array))
    axes = g.axes(len(shape)) if g.flag() is False else None
    keep = g.pick((None, 0, 1))
    if g.has_attribute("axes"):
        return Node([data], g.attributes(axes=axes or None, keepdims=keep))
    noop = g.pick((None, 1))
    return Node([data] + ([numbers(axes)] if axes is not None else []), g.attributes(keepdims=keep, noop_with_empty_axes=noop))


def extremum_index(g):
    shape = g.shape(1, least=1)
    return Node([g.arg(g.dtype(), shape, values.TAME)],
                g.attributes(axis=g.axis(len(shape)) if g.flag() else None, keepdims=g.pick((None, 0)), select_last_index=g.pick((None, 1))))


def cumulate(g):
    shape = g.shape(1)
    return Node([g.arg(g.dtype(), shape, values.TAME + ("special",)), numbers(g.axis(len(shape)), g.pick((np.int64, np.int32)))],
                g.attributes(exclusive=g.pick((None, 1)), reverse=g.pick((None, 1))))


def top_k(g):
    shape = g.shape(1, least=1)
    axis = g.axis(len(shape))
    k = g.below(shape[axis] + 1)
    data = g.arg(g.dtype(), shape, values.TAME)
    attributes = g.attributes(axis=axis, largest=g.pick((None, 0)), sorted=1 if g.has_attribute("sorted") else None)
    if g.has_attribute("k"):
        return Node([data], attributes | {"k": max(k, 1)}, outputs=2)
    return Node([data, numbers([k])], attributes, outputs=2)


RULES = {op: reduce for op in "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare".split()}
RULES |= {"ArgMax": extremum_index, "ArgMin": extremum_index, "CumSum": cumulate, "TopK": top_k}
