"""Convolution and pooling, in one to three dims."""
import values
from draw import Node

SOME = values.TAME


def window(g, dims):
    """Attributes, and sizes that the window fits in."""
    kernel = [g.pick((1, 2, 3)) for _ in range(dims)]
    strides = [g.pick((1, 2, 3)) for _ in range(dims)] if g.flag() else None
    dilations = [g.pick((1, 2)) for _ in range(dims)] if g.flag(3) and g.has_attribute("dilations") else None
    pads = [g.pick((0, 1)) if size > 1 else 0 for _ in range(2) for size in kernel] if g.flag() else None
    auto = g.pick((None, None, "SAME_UPPER", "SAME_LOWER", "VALID")) if pads is None and dilations is None else None
    sizes = [max(g.pick((5, 4, 7, 1, 12)), (size - 1) * (dilations[i] if dilations else 1) + 1) for i, size in enumerate(kernel)]
    return sizes, g.attributes(kernel_shape=kernel, strides=strides, dilations=dilations, pads=pads, auto_pad=auto)


def conv(g):
    dims = g.pick((2, 1, 3))
    sizes, attributes = window(g, dims)
    group, per_group, out = g.pick((1, 2, 4)), g.pick((1, 2, 3)), g.pick((1, 2, 5, 8))
    dtype = g.dtype()
    data = g.arg(dtype, (g.pick((1, 2)), group * per_group, *sizes), SOME)
    kernel = tuple(attributes["kernel_shape"])
    weights = (group * per_group, out, *kernel) if g.op == "ConvTranspose" else (group * out, per_group, *kernel)
    inputs = [data, g.arg(dtype, weights, SOME)] + ([g.arg(dtype, (group * out,), SOME)] if g.flag() else [])
    if g.op == "ConvTranspose" and g.flag(3) and attributes.get("strides"):
        attributes["output_padding"] = [min(1, stride - 1) for stride in attributes["strides"]]
    if g.op == "ConvTranspose" and g.flag(4) and "pads" not in attributes:
        steps, reach = attributes.get("strides") or [1] * dims, [(size - 1) * (attributes.get("dilations") or [1] * dims)[i] for i, size in enumerate(kernel)]
        attributes["output_shape"] = [max(1, (size - 1) * steps[i] + reach[i] + g.pick((1, 0, 2))) for i, size in enumerate(sizes)]
    if g.flag() and g.op == "Conv":
        del attributes["kernel_shape"]
    return Node(inputs, attributes | {"group": group})


def pool(g):
    dims = g.pick((2, 1, 3))
    sizes, attributes = window(g, dims)
    attributes |= g.attributes(ceil_mode=g.pick((None, 1)), count_include_pad=g.pick((None, 1)))
    return Node([g.arg(g.dtype(), (g.pick((1, 2)), g.pick((1, 3, 8)), *sizes), SOME)], attributes)


def global_pool(g):
    return Node([g.arg(g.dtype(), (g.pick((1, 2)), g.pick((1, 3)), *g.shape(1, 3, least=1)), SOME)], {})


RULES = {"Conv": conv, "ConvTranspose": conv, "MaxPool": pool, "AveragePool": pool, "GlobalAveragePool": global_pool, "GlobalMaxPool": global_pool}
