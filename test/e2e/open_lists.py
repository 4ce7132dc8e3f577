#!/usr/bin/env python3
"""Lists of axes, sizes, pads and steps whose length or numbers only the run knows, against ONNX Runtime: each case with several inputs
in one session. And lists that are wrong: a clear error. Needs LLMC_BIN, or build/release/bin.
"""
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx

from checks import Checks, run_tool
from control_flow import run_case
from runtime import Plan, RunError
from small_models import parse

F, I = np.float32, np.int64
HEADER = '<ir_version: 10, opset_import: ["" : 21]>\n'


def integers(*values):
    return np.array(values, I)


def floats(*shape):
    return np.arange(np.prod(shape), dtype=F).reshape(shape) / 8


def lists(*names):
    """Inputs of one model: a dict per tuple of lists."""
    return lambda x, *rows: [{"x": x, **{name: integers(*values) for name, values in zip(names, row)}} for row in rows]


CASES = []


def case(name, text, inputs):
    CASES.append((name, HEADER + text.strip(), inputs))


AXES = lists("axes")
SOME = AXES(floats(2, 3, 4), ((),), ((1,),), ((-1, 0),), ((2, 0, 1),))

case("reductions by axes of any number", """
g (float[A,B,C] x, int64[K] axes) => (float[D,E,G] s, float[H,J,L] n, float[M,O,P] m, float[Q,R,S] e) {
  s = ReduceSum (x, axes)
  n = ReduceSum <noop_with_empty_axes = 1> (x, axes)
  m = ReduceMax (x, axes)
  e = ReduceLogSumExp (x, axes)
}""", SOME)

case("reductions whose result has a declared rank", """
g (float[A,B,C] x, int64[K] axes) => (float[D] s, float[E] m) {
  s = ReduceSum <keepdims = 0> (x, axes)
  m = ReduceMean <keepdims = 0> (x, axes)
}""", AXES(floats(2, 3, 4), ((0, 2),), ((-1, 1),), ((1, -3),)))

case("slices by open lists", """
g (float[A,B,C] x, int64[K] starts, int64[K] ends, int64[K] axes, int64[K] steps) => (float[D,E,G] y, float[H,J,L] z) {
  y = Slice (x, starts, ends, axes)
  z = Slice (x, starts, ends, axes, steps)
}""", lists("starts", "ends", "axes", "steps")(
    floats(4, 5, 6), ((), (), (), ()), ((1,), (3,), (1,), (1,)), ((-3, 0), (2**62, -2), (-1, 0), (2, 1)),
    ((-1, 4), (-2**63, 0), (0, 1), (-1, -2)), ((5, 3), (2, 3), (0, 2), (1, 1))))

case("slices along known axes by open steps", """
g (float[A,5] x, int64[2] starts, int64[2] ends, int64[1] step) => (float[D,E] y, float[G,5] z)
  <int64[1] first = {0}, int64[1] end = {100}, int64[1] zero = {0}> {
  y = Slice (x, starts, ends)
  z = Slice (x, first, end, zero, step)
}""", lists("starts", "ends", "step")(floats(6, 5), ((1, 1), (4, 3), (2,)), ((0, -2), (9, 9), (3,)), ((2, 0), (2, 5), (7,))))

PADS = [((0, 0, 0, 0),), ((1, 2, 0, 1),), ((-1, 1, 1, -2),), ((2, 0, -2, 2),)]
for mode in ("constant", "edge", "reflect", "wrap"):
    case(f"pads of open numbers, {mode}", f"""
g (float[A,B] x, int64[K] pads) => (float[C,D] y) {{
  y = Pad <mode = "{mode}"> (x, pads)
}}""", lists("pads")(floats(4, 5), *(PADS if mode == "constant" else [row for row in PADS if min(row[0]) >= 0])))

case("pads of open axes, by a value", """
g (float[A,B,C] x, int64[P] pads, int64[K] axes) => (float[D,E,G] y) <float seven = {7}> {
  y = Pad (x, pads, seven, axes)
}""", lists("pads", "axes")(floats(2, 3, 4), ((1, 2), (1,)), ((1, 0, 2, 3), (-1, 0)), ((), ())))

case("pads that are dims", """
g (float[A,3] x, int64[K] like) => (float[B,3] y) <int64[1] one = {1}, int64[3] none = {0, 0, 0}> {
  n = Shape (like)
  pads = Concat <axis = 0> (none, none)
  before = Concat <axis = 0> (n, none)
  y = Pad (x, before)
}""", [{"x": floats(2, 3), "like": integers(*range(n))} for n in (0, 1, 4)])

case("cut or padded at the centre", """
g (float[A,B,4] x, int64[K] sizes) => (float[D,E,4] y) { y = CenterCropPad <axes = [0, 1]> (x, sizes) }
""", lists("sizes")(floats(5, 2, 4), ((5, 2),), ((2, 5),), ((8, 1),), ((4, 4),)))

case("shapes of a declared rank", """
g (float[A,B] x, int64[K] shape, int64[L] wide) => (float[C,D,E] y, float[G,H] z, float[J,M,N] w) <int64[1] last = {-1}> {
  y = Reshape (x, shape)
  z = Expand (x, wide)
  w = ConstantOfShape (shape)
}""", lists("shape", "wide")(floats(4, 3), ((2, 2, 3), (4, 3)), ((12, 1, 1), (1,)), ((1, 4, 3), ())))

case("axes of a declared rank", """
g (float[A,B,C,D] x, int64[K] axes, int64[L] places) => (float[E,G] y, float[H,J,M,N,O,P] z) {
  y = Squeeze (x, axes)
  z = Unsqueeze (x, places)
}""", lists("axes", "places")(floats(1, 3, 1, 2), ((0, 2), (0, 5)), ((-2, -4), (-1, 2))))

case("squeezing what is 1", """
g (float[A,B,C] x) => (float[E,G] y) { y = Squeeze (x) }
""", [{"x": floats(*shape)} for shape in ((1, 2, 3), (2, 1, 3), (2, 3, 1))])

case("tiles, splits, greatest elements by open lists", """
g (float[A,B] x, int64[K] repeats, int64[S] sizes, int64[N] k) => (float[C,D] t, float[E,B] p, float[G,B] q, float[H,J] v, int64[L,M] i) {
  t = Tile (x, repeats)
  p, q = Split <axis = 0> (x, sizes)
  v, i = TopK (x, k)
}""", lists("repeats", "sizes", "k")(floats(4, 3), ((2, 1), (1, 3), (2,)), ((0, 3), (4, 0), (3,))))

case("tuples of indices of a length that ranks show", """
g (float[A,B,C] x, int64[N,T] tuples, float[N,C] updates) => (float[A,B,C] y, float[N,U] z) {
  y = ScatterND (x, tuples, updates)
  z = GatherND (x, tuples)
}""", [{"x": floats(2, 3, 4), "tuples": np.array(tuples, I), "updates": -floats(len(tuples), 4)} for tuples in ([[1, 2], [0, 0]], [[1, 1]])])

case("one-hot of an open depth", """
g (int64[N] x, int64 depth, float[2] values) => (float[N,D] y) { y = OneHot (x, depth, values) }
""", [{"x": integers(0, 2, -1), "depth": np.array(depth, I), "values": np.array([0, 3], F)} for depth in (3, 5)])

case("transforms of open axes and lengths", """
g (float[A,B,C,1] x, int64 axis, int64 length) => (float[D,E,G,2] y) { y = DFT (x, length, axis) }
""", [{"x": floats(2, 2, 4, 1), "axis": np.array(axis, I), "length": np.array(n, I)} for axis, n in ((1, 4), (-2, 4), (0, 2), (2, 2), (-3, 1))])

case("a diagonal of an open size", """
g (float[A,B,C] x) => (float[A,B] y) { y = Einsum <equation = "bii->bi"> (x) }
""", [{"x": floats(2, n, n)} for n in (1, 3)])

WRONG = [
    ("g (float[A,B] x, int64[K] axes) => (float[C,D] y) { [sum] y = ReduceSum (x, axes) }",
     [({"axes": integers(2)}, "an axis is out of range or given twice"), ({"axes": integers(-3)}, "an axis is out of range or given twice"),
      ({"axes": integers(1, -1)}, "an axis is out of range or given twice")]),
    ("g (float[A,B] x, int64[K] axes) => (float[C] y) { [sum] y = ReduceSum <keepdims = 0> (x, axes) }",
     [({"axes": integers(0, 1)}, "the result has rank 1")]),
    ("g (float[A,B] x, int64[K] shape) => (float[C] y) { [flat] y = Reshape (x, shape) }",
     [({"shape": integers(2, 3)}, "elements, expected 1")]),
    ("g (float[A,B] x, int64[K] pads) => (float[C,D] y) { [pad] y = Pad (x, pads) }",
     [({"pads": integers(1, 1)}, "elements, expected 4"), ({"pads": integers(-2, 0, -1, 0)}, "pads remove more elements than a dim has")]),
    ("g (float[A,B] x, int64[K] s, int64[K] e, int64[K] a, int64[K] p) => (float[C,D] y) { [slice] y = Slice (x, s, e, a, p) }",
     [({"s": integers(0), "e": integers(1), "a": integers(0), "p": integers(0)}, "a step is 0"),
      ({"s": integers(0, 0), "e": integers(1, 1), "a": integers(0, 0), "p": integers(1, 1)}, "an axis is out of range or given twice")]),
    ("g (float[A,B] x, int64[K] k) => (float[C,D] y, int64[E,G] i) { [top] y, i = TopK (x, k) }",
     [({"k": integers(1, 1)}, "elements, expected 1")]),
]


def refuse(checks, folder, text, inputs):
    onnx.save(parse(HEADER + text), folder / "wrong.onnx")
    done = run_tool("llmc", folder / "wrong.onnx", "-o", folder / "wrong.llmc")
    checks.check(done.returncode == 0, f"{text}: compiles: {done.stderr.strip()}")
    if done.returncode:
        return
    plan = Plan(folder / "wrong.llmc")
    for given, words in inputs:
        try:
            plan({"x": floats(2, 3), **given})
            checks.check(False, f"{text}: {given} ends in an error")
        except RunError as fault:
            checks.check(words in str(fault), f"{text}: {given}: {words}" if words in str(fault) else f"{text}: {given}: found {fault}")
    plan.close()


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        for title, text, inputs in CASES:
            run_case(checks, Path(name), title, text, inputs)
        for text, inputs in WRONG:
            refuse(checks, Path(name), text, inputs)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
