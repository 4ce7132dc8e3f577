"""By indices that are data."""
import numpy as np

import values
from draw import Arg, Node


def indices(g, shape, size, dtype=None):
    """From -size to size - 1."""
    low = -size if g.flag() else 0
    rng = np.random.default_rng(g.below(1000))
    return Arg(rng.integers(low, size, shape).astype(dtype or g.pick((np.int64, np.int32))))


def gather(g):
    shape = g.shape(1, 4, least=1)
    axis = g.axis(len(shape))
    return Node([g.arg(g.dtype(), shape), indices(g, g.shape(0, 2), shape[axis])], {"axis": axis})


def gather_elements(g):
    shape = g.shape(1, 4, least=1)
    axis = g.axis(len(shape))
    wanted = tuple(g.size() if i == axis % len(shape) else min(size, g.size(1)) for i, size in enumerate(shape))
    return Node([g.arg(g.dtype(), shape), indices(g, wanted, shape[axis])], {"axis": axis})


def nd_indices(g, shape, lead, width):
    columns = [indices(g, lead, size, np.int64).array for size in shape[:width]]
    return Arg(np.stack(columns, axis=-1))


def gather_nd(g):
    shape = g.shape(1, 4, least=1)
    width = 1 + g.below(len(shape))
    return Node([g.arg(g.dtype(), shape), nd_indices(g, shape, g.shape(0, 2), width)], {})


def scatter_elements(g):
    shape = g.shape(1, 3, least=1)
    axis, dtype = g.axis(len(shape)), g.dtype()
    reduction = g.pick((None, "add", "mul", "max", "min")) if g.has_attribute("reduction") else None
    if reduction in ("max", "min") and g.version < 18:
        reduction = "add"
    # Without a reduction the order of writes to one place is open, so no place is written twice.
    wanted = tuple(1 if i == axis % len(shape) and not reduction else min(size, g.size(1)) for i, size in enumerate(shape))
    return Node([g.arg(dtype, shape, values.TAME), indices(g, wanted, shape[axis]), g.arg(dtype, wanted, values.TAME)],
                g.attributes(axis=axis, reduction=reduction))


def scatter_nd(g):
    shape, dtype = g.shape(1, 3, least=1), g.dtype()
    width = 1 + g.below(len(shape))
    reduction = g.pick((None, "add", "mul", "max", "min")) if g.has_attribute("reduction") else None
    if reduction in ("max", "min") and g.version < 18:
        reduction = "add"
    lead = g.shape(1, 2) if reduction else (1,)
    return Node([g.arg(dtype, shape, values.TAME), nd_indices(g, shape, lead, width), g.arg(dtype, lead + shape[width:], values.TAME)],
                g.attributes(reduction=reduction))


def one_hot(g):
    depth = g.pick((3, 1, 5))
    dtype = g.pick((np.float32, np.int64, np.int32))
    where = indices(g, g.shape(1, 3), depth + g.below(2), g.pick((np.int64, np.int32, np.float32)))
    return Node([where, Arg(np.array(depth, g.pick((np.int64, np.int32))), is_number=True), Arg(np.array([0, 1], dtype))],
                g.attributes(axis=g.axis(where.array.ndim, end=1)))


def compress(g):
    shape = g.shape(1, 3, least=1)
    axis = g.axis(len(shape)) if g.flag() else None
    length = shape[axis] if axis is not None else int(np.prod(shape))
    return Node([g.arg(g.dtype(), shape), g.arg(np.bool_, (g.below(length + 1),))], g.attributes(axis=axis))


def non_zero(g):
    return Node([g.arg(g.dtype(), g.shape(1, 3), values.TAME)], {})


def reverse_sequence(g):
    shape = g.shape(2, 4, least=1)
    time = g.below(2)
    lengths = Arg(np.array([1 + g.below(shape[time]) for _ in range(shape[1 - time])], np.int64))
    return Node([g.arg(g.dtype(), shape), lengths], {"time_axis": time, "batch_axis": 1 - time})


RULES = {"Gather": gather, "GatherElements": gather_elements, "GatherND": gather_nd, "ScatterElements": scatter_elements, "ScatterND": scatter_nd,
         "OneHot": one_hot, "Compress": compress, "NonZero": non_zero, "ReverseSequence": reverse_sequence}
