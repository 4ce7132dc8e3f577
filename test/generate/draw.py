"""What the rules of operators draw with."""
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import helper

import values

OLDEST, NEWEST = 7, onnx.defs.onnx_opset_version() - 1  # ONNX Runtime does not know the newest of onnx yet
SIZES = (2, 1, 3, 5, 4, 8, 0, 17, 33)
MOST_ELEMENTS = 5000


@dataclass
class Arg:
    """An input of the node. A number such as axes or a shape, which compilers like to know, is mostly constant."""
    array: np.ndarray | None
    is_number: bool = False

    def __post_init__(self):
        if self.array is not None:
            self.array = np.asarray(self.array)  # numpy makes scalars of arrays of rank 0


@dataclass
class Node:
    inputs: list  # of Arg
    attributes: dict
    outputs: int = 1


def versions_of(op):
    """Opset versions with a meaning of their own, newest first."""
    all_versions = {schema.since_version for schema in onnx.defs.get_all_schemas_with_history() if schema.name == op and schema.domain == ""}
    known = [max(version, OLDEST) for version in all_versions if version <= NEWEST]
    return sorted(set(known), reverse=True)


class Draw:
    def __init__(self, choices, op):
        self.choices, self.op = choices, op
        self.pick, self.flag, self.below = choices.pick, choices.flag, choices.below
        self.version = self.pick(versions_of(op))
        self.schema = onnx.defs.get_schema(op, self.version, "")

    # Types.
    def dtype(self, position=0, wanted=values.NUMBERS + (np.bool_,)):
        """A type that the operator has for this input."""
        formal = self.schema.inputs[min(position, len(self.schema.inputs) - 1)]
        allowed = next((c.allowed_type_strs for c in self.schema.type_constraints if c.type_param_str == formal.type_str), [formal.type_str])
        names = {helper.np_dtype_to_tensor_dtype(np.dtype(t)): t for t in wanted}
        fit = [t for number, t in names.items() if f"tensor({onnx.TensorProto.DataType.Name(number).lower()})" in allowed]
        # Half of the cases have the type that most models have.
        return fit[0] if self.flag() is False else self.pick(fit)

    def has_attribute(self, name):
        return name in self.schema.attributes

    # Shapes.
    def size(self, least=0):
        return max(self.pick(SIZES), least)

    def shape(self, low=0, high=4, least=0):
        shape = []
        for _ in range(low + self.below(high - low + 1)):
            size = self.size(least)
            shape.append(size if np.prod(shape + [size]) <= MOST_ELEMENTS else 1)
        return tuple(shape)

    def broadcast_from(self, shape):
        """A shape that broadcasts to `shape`: without some first dims, others of size 1."""
        kept = shape[self.below(len(shape) + 1):] if self.flag() else shape
        return tuple(1 if self.flag(4) else size for size in kept)

    def axis(self, rank, end=0):
        """From -rank to rank - 1 + end."""
        axis = self.below(rank + end)
        return axis - rank - end if self.flag() else axis

    def axes(self, rank):
        """Some axes, in any order, positive and negative."""
        chosen = [axis for axis in range(rank) if self.flag()]
        if self.flag(4):
            chosen.reverse()
        return [axis - rank if self.flag(3) else axis for axis in chosen]

    # Values.
    def array(self, dtype, shape, kinds=values.KINDS):
        kind = self.pick(kinds)
        return values.make(dtype, shape, kind, 0 if kind == "small" else self.below(1000))

    def tame(self, dtype, shape):
        return self.array(dtype, shape, values.TAME)

    def arg(self, dtype, shape, kinds=values.KINDS):
        return Arg(self.array(dtype, shape, kinds))

    def number(self, *options):
        """A float attribute; None leaves the default."""
        return self.pick((None, *options))

    def attributes(self, **given):
        """Those that are not None and that this version has."""
        return {name: value for name, value in given.items() if value is not None and self.has_attribute(name)}


def numbers(values_, dtype=np.int64):
    return Arg(np.array(values_, dtype), is_number=True)
