"""Shapes and moves of whole blocks."""
import numpy as np

import values
from draw import Arg, Node, numbers


def reshape(g):
    shape = g.shape(0, 4)
    flat, target = list(shape), []
    while flat and g.flag():  # neighbours join
        flat[:2] = [int(np.prod(flat[:2]))]
    target = flat + ([1] if g.flag() else [])
    if target and g.flag() and np.prod(target) > 0:
        target[g.below(len(target))] = -1
    if target and shape[:1] == (target[0],) and g.flag():
        return Node([g.arg(g.dtype(), shape), numbers([0] + target[1:])], {})  # 0 is the size of that dim, whatever it is
    return Node([g.arg(g.dtype(), shape), numbers(target)], g.attributes(allowzero=1 if 0 in target else None))


def flatten(g):
    shape = g.shape()
    return Node([g.arg(g.dtype(), shape)], {"axis": g.below(len(shape) + 1)})


def with_axes(g, data, axes):
    if g.has_attribute("axes"):
        return Node([data], g.attributes(axes=axes))
    return Node([data] + ([numbers(axes)] if axes is not None else []), {})


def squeeze(g):
    shape = tuple(1 if g.flag() else size for size in g.shape())
    ones = [axis - len(shape) if g.flag(3) and g.version >= 11 else axis for axis, size in enumerate(shape) if size == 1 and g.flag()]
    return with_axes(g, g.arg(g.dtype(), shape), ones or None)


def unsqueeze(g):
    shape = g.shape(0, 3)
    rank = len(shape) + 1 + g.below(2)
    axes = list(range(rank))
    while len(axes) > rank - len(shape):
        axes.pop(g.below(len(axes)))
    return with_axes(g, g.arg(g.dtype(), shape), [axis - rank if g.flag(3) and g.version >= 11 else axis for axis in axes])


def transpose(g):
    shape, perm = g.shape(), []
    rest = list(range(len(shape)))
    while rest:
        perm.append(rest.pop(g.below(len(rest))))
    return Node([g.arg(g.dtype(), shape)], g.attributes(perm=perm if perm and g.flag() is False else None))


def concat(g):
    dtype, shape = g.dtype(), list(g.shape(1))
    axis, parts = g.axis(len(shape)), []
    for _ in range(1 + g.below(3)):
        shape[axis] = g.size()
        parts.append(g.arg(dtype, tuple(shape)))
    return Node(parts, {"axis": axis})


def split(g):
    shape = list(g.shape(1))
    axis = g.axis(len(shape))
    parts = [g.pick((2, 1, 0, 3)) for _ in range(1 + g.below(3))]
    shape[axis] = sum(parts)
    data = g.arg(g.dtype(), tuple(shape))
    if g.has_attribute("split"):
        return Node([data], g.attributes(axis=axis, split=parts), outputs=len(parts))
    if g.has_attribute("num_outputs") and g.flag():
        return Node([data], {"axis": axis, "num_outputs": len(parts)}, outputs=len(parts))
    return Node([data, numbers(parts)], {"axis": axis}, outputs=len(parts))


def slice_(g):
    shape = g.shape(1)
    axes = g.axes(len(shape)) or [0]
    pairs = [(g.pick((0, 1, -1, -2, 3, -100, 100)), g.pick((100, 2, -1, 0, 1, -100, np.iinfo(np.int64).max, np.iinfo(np.int64).min))) for _ in axes]
    starts, ends = map(list, zip(*pairs))
    data = g.arg(g.dtype(), shape)
    if g.has_attribute("starts"):
        return Node([data], {"starts": starts, "ends": ends, "axes": [axis % len(shape) for axis in axes]})
    inputs, dtype = [data], np.int64
    steps = [g.pick((1, 2, -1, -2, 5)) for _ in axes]
    return Node(inputs + [numbers(list_, dtype) for list_ in ((starts, ends, axes, steps) if g.flag() else (starts, ends, axes))], {})


def expand(g):
    shape = g.shape()
    return Node([g.arg(g.dtype(), g.broadcast_from(shape)), numbers([1 if g.flag(4) else size for size in shape])], {})


def tile(g):
    shape = g.shape(1, 3)
    return Node([g.arg(g.dtype(), shape), numbers([g.pick((1, 2, 0, 3)) for _ in shape])], {})


def pad(g):
    shape, mode = g.shape(1, 4, least=2), g.pick(("constant", "reflect", "edge", "wrap"))
    if mode == "wrap" and g.version < 19:
        mode = "constant"
    pads = [g.pick((0, 1) if mode != "constant" else (0, 1, 2, -1)) for _ in range(2 * len(shape))]
    dtype = g.dtype()
    data = g.arg(dtype, shape)
    if g.has_attribute("pads"):
        return Node([data], {"pads": pads, "mode": mode, "value": g.pick((0.0, 1.5))})
    value = Arg(np.array(1, dtype)) if g.flag() and mode == "constant" else None
    return Node([data, numbers(pads)] + ([value] if value else []), {"mode": mode})


def shape_of(g):
    shape = g.shape()
    if g.op == "Size" or not g.has_attribute("start"):
        return Node([g.arg(g.dtype(), shape)], {})
    return Node([g.arg(g.dtype(), shape)], g.attributes(start=g.pick((None, 1, -1, -2)), end=g.pick((None, 1, -1, 9))))


def depth_and_space(g):
    block = g.pick((2, 1, 3))
    n, c, h, w = g.pick((1, 2)), g.pick((1, 2, 3)), g.pick((1, 2, 3)), g.pick((2, 1, 3))
    if g.op == "DepthToSpace":
        return Node([g.arg(g.dtype(), (n, c * block * block, h, w))], g.attributes(blocksize=block, mode=g.pick((None, "CRD"))))
    return Node([g.arg(g.dtype(), (n, c, h * block, w * block))], {"blocksize": block})


def trilu(g):
    shape = g.shape(2, 4)
    return Node([g.arg(g.dtype(), shape)] + ([numbers(g.pick((0, 1, -1, 5, -5)))] if g.flag() else []), g.attributes(upper=g.pick((None, 0))))


def range_(g):
    dtype = g.dtype()
    start, count, step = g.pick((0, 1, 3)), g.pick((3, 1, 0, 7)), g.pick((1, 2, -1, 3))
    signed = not np.issubdtype(dtype, np.unsignedinteger)
    return Node([numbers(value, dtype) for value in (start, start + count * step if signed else start + count * abs(step), step if signed else abs(step))], {})


def eye_like(g):
    return Node([g.arg(g.dtype(), g.shape(2, 2), values.TAME)], g.attributes(k=g.pick((None, 1, -1, 7))))


RULES = {"Reshape": reshape, "Flatten": flatten, "Squeeze": squeeze, "Unsqueeze": unsqueeze, "Transpose": transpose, "Concat": concat, "Split": split,
         "Slice": slice_, "Expand": expand, "Tile": tile, "Pad": pad, "Shape": shape_of, "Size": shape_of, "DepthToSpace": depth_and_space,
         "SpaceToDepth": depth_and_space, "Trilu": trilu, "Range": range_, "EyeLike": eye_like}
