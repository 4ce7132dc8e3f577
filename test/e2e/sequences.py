#!/usr/bin/env python3
"""Sequences and optionals, against ONNX Runtime: each case with several inputs in one session. A sequence x is passed as x.values and
x.shapes, an optional one as x.has and what it holds. Needs LLMC_BIN, or build/release/bin.
"""
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

from checks import Checks, run_tool
from runtime import Plan, RunError
from small_models import parse

F, I, B = np.float32, np.int64, np.bool_
WIDTH = 8  # of a row of shapes


def packed(name, tensors, dtype=F):
    shapes = np.full((len(tensors), WIDTH), -1, I)
    for row, tensor in zip(shapes, tensors):
        row[:tensor.ndim] = tensor.shape
    values = np.concatenate([np.zeros(0, dtype)] + [tensor.reshape(-1) for tensor in tensors])
    return {name + ".values": values, name + ".shapes": shapes}


def unpacked(values, shapes):
    tensors, start = [], 0
    for row in shapes:
        shape = [dim for dim in row if dim >= 0]
        size = int(np.prod(shape, dtype=I))
        tensors.append(values[start:start + size].reshape(shape))
        start += size
    assert start == len(values)
    return tensors


def flattened(inputs):
    flat = {}
    for name, value in inputs.items():
        flat.update(packed(name, value) if isinstance(value, list) else {name: np.asarray(value)})
    return flat


def vectors(*sizes):
    rng = np.random.default_rng(1)
    return [rng.random(size, F) for size in sizes]


def counts(name, numbers, **others):
    return [{name: np.array(number, I), **others} for number in numbers]


X = np.arange(3, dtype=F) / 4
PAIR = vectors((2, 3), (2, 1))
CASES, FAULTS = [], []


def case(name, text, *inputs):
    CASES.append((name, text, inputs))


def fault(name, text, message, *inputs):
    """Each run fails with that message, and the name of the node."""
    FAULTS.append((name, text, message, inputs))


AT = """
g (float[N] x, int64 i) => (float[M] y, int64 n) {
  z = Concat <axis = 0> (x, x)
  s = SequenceConstruct (x, x)
  t = SequenceInsert (s, z)
  [picked] y = SequenceAt (t, i)
  n = SequenceLength (t)
}"""
case("an element of a known sequence", AT, *counts("i", (0, 2, -1, -3), x=X))
fault("a position behind the end, of a known sequence", AT, "picked (SequenceAt): the position is out of range", *counts("i", (3, -4), x=X))

case("a loop that fills a sequence", """
g (int64 m, float[N] x) => (seq(float[M]) s, int64 n) <bool yes = {1}> {
  e = SequenceEmpty ()
  s = Loop (m, yes, e) <body = b (int64 i, bool c, seq(float[K]) l) => (bool c2, seq(float[K]) l2) {
    c2 = Identity (c)  f = Cast <to = 1> (i)  y = Add (x, f)  l2 = SequenceInsert (l, y) }>
  n = SequenceLength (s)
}""", *counts("m", (0, 1, 4), x=X))

REPLACE = """
g (int64 m, float[N] x, int64 p, int64 q) => (float[K,Q] y) <bool yes = {1}> {
  q0 = Neg (x)
  e = SequenceConstruct (x, q0, x)
  s = Loop (m, yes, e) <body = b (int64 i, bool c, seq(float[K]) l) => (bool c2, seq(float[K]) l2) {
    c2 = Identity (c)
    [taken] a = SequenceAt (l, p)
    z = Exp (a)
    l1 = SequenceErase (l, p)
    [put] l2 = SequenceInsert (l1, z, q) }>
  y = ConcatFromSequence <axis = 0, new_axis = 1> (s)
}"""
case("a loop that takes out and puts in", REPLACE,
     *[{"m": np.array(m, I), "x": X, "p": np.array(p, I), "q": np.array(q, I)} for m in (0, 1, 3) for p, q in ((0, 0), (-3, -2), (2, 2), (1, -1))])
fault("a position behind the end, in a loop", REPLACE, "taken (SequenceAt): the position is out of range", *counts("p", (3, -4), m=np.array(1, I), x=X, q=np.array(0, I)))
fault("a place behind the end, in a loop", REPLACE, "put (SequenceInsert): the position is out of range", *counts("q", (3, -3), m=np.array(1, I), x=X, p=np.array(0, I)))

case("a loop in a loop", """
g (int64 m, float[N] x) => (seq(float[M]) s) <bool yes = {1}> {
  e = SequenceEmpty ()
  s = Loop (m, yes, e) <body = b (int64 i, bool c, seq(float[K]) l) => (bool c2, seq(float[K]) l2) {
    c2 = Identity (c)
    l2 = Loop (i, yes, l) <body = bb (int64 j, bool d, seq(float[K]) k) => (bool d2, seq(float[K]) k2) {
      d2 = Identity (d)  n = SequenceLength (k)  f = Cast <to = 1> (n)  y = Add (x, f)  k2 = SequenceInsert (k, y) }> }>
}""", *counts("m", (0, 1, 4), x=X))

case("a sequence that the body only reads", """
g (seq(float[K]) s, int64 m) => (seq(float[K]) t, float[K] y, float[T,1] all) <bool yes = {1}, int64 zero = {0}, int64[1] ax = {0}> {
  first = SequenceAt (s, zero)
  t, y, all = Loop (m, yes, s, first) <body = b (int64 i, bool c, seq(float[K]) l, float[K] v) => (bool c2, seq(float[K]) l2, float[K] w, float[1] u) {
    c2 = Identity (c)  l2 = Identity (l)  w = SequenceAt (l, i)  u = ReduceSum (w, ax) }>
}""", *[{"s": vectors(3, 1, 2), "m": np.array(m, I)} for m in (1, 3)])

BRANCHES = """
g (bool c, float[N] x, int64 i) => (float[K] y, int64 n, seq(float[K]) s) {
  s = If (c) <then_branch = t () => (seq(float[K]) a) { z = Concat <axis = 0> (x, x)  a = SequenceConstruct (x, z) },
              else_branch = e () => (seq(float[K]) b) { b = SequenceConstruct (x) }>
  [picked] y = SequenceAt (s, i)
  n = SequenceLength (s)
}"""
case("branches of different lengths", BRANCHES, *[{"c": np.array(c), "x": X, "i": np.array(i, I)} for c, i in ((1 > 0, 0), (1 > 0, 1), (1 < 0, 0), (1 < 0, -1))])
fault("a position behind the end of one branch", BRANCHES, "picked (SequenceAt): the position is out of range", {"c": np.array(False), "x": X, "i": np.array(1, I)})

case("an empty sequence in a branch", """
g (bool c, float[N] x) => (int64 n, seq(float[K]) s) {
  s = If (c) <then_branch = t () => (seq(float[K]) a) { a = SequenceConstruct (x, x) }, else_branch = e () => (seq(float[K]) b) { b = SequenceEmpty () }>
  n = SequenceLength (s)
}""", *[{"c": np.array(c), "x": X} for c in (True, False)])

EDITS = """
g (seq(float[K,L]) s, int64 i) => (float[K,L] y, int64 n, seq(float[K,L]) e, seq(float[K,L]) f, float[A,B] z) {
  [picked] y = SequenceAt (s, i)
  n = SequenceLength (s)
  e = SequenceErase (s, i)
  f = SequenceInsert (e, y, i)
  [joined] z = ConcatFromSequence <axis = 1> (s)
}"""
case("a sequence that is an input", EDITS, *[{"s": PAIR + vectors((2, k)), "i": np.array(i, I)} for i in (0, -1, 1) for k in (1, 4)])
fault("elements that do not fit together", EDITS, "joined", {"s": PAIR + vectors((3, 1)), "i": np.array(0, I)})
fault("an empty sequence has nothing to join", EDITS, "joined (ConcatFromSequence): the sequence is empty", {"s": [], "i": np.array(0, I)})

case("a map over sequences of any length", """
g (seq(float[K]) s, float[1] x) => (seq(float[K]) y, seq(int64[1]) n) {
  y, n = SequenceMap (s, x) <body = b (float[K] a, float[1] b) => (float[K] c, int64[1] d) { c = Add (a, b)  d = Shape (a) }>
}""", *[{"s": vectors(*sizes), "x": np.array([2], F)} for sizes in ((), (3,), (2, 1, 4))])

case("pieces of a size that the run shows", """
g (float[N,M] x, int64 k) => (seq(float[A,B]) a, seq(float[A,B]) b, seq(float[A]) c) {
  a = SplitToSequence <axis = 1> (x, k)
  b = SplitToSequence <axis = 0> (x, k)
  c = SplitToSequence <keepdims = 0> (x)
}""", *[{"x": vectors((n, 5))[0], "k": np.array(k, I)} for n in (1, 4) for k in (1, 2, 7)])

SIZES = """
g (float[N,M] x, int64[P] sizes) => (seq(float[A,B]) a) { [cut] a = SplitToSequence <axis = 1> (x, sizes) }"""
case("pieces of sizes that the run shows", SIZES, *[{"x": vectors((2, 5))[0], "sizes": np.array(s, I)} for s in ((5,), (1, 0, 4), (2, 3))])
fault("pieces that do not make the whole", SIZES, "cut (SplitToSequence): the pieces do not make the whole dim", {"x": vectors((2, 5))[0], "sizes": np.array([2, 4], I)})

case("pieces that are known, and together again", """
g (float[6,5] x) => (seq(float[A,B]) a, float[6,5] b, seq(float[A]) c, seq(float[A,B]) d) <int64 two = {2}, int64[2] sizes = {2, 3}> {
  a = SplitToSequence <axis = 1> (x, two)
  b = ConcatFromSequence <axis = 1> (a)
  c = SplitToSequence <keepdims = 0> (x)
  d = SplitToSequence <axis = 1> (x, sizes)
}""", {"x": vectors((6, 5))[0]})

HELD = """
g (bool c, float[N] x) => (bool has, float[K] y) {
  o = If (c) <then_branch = t () => (optional(float[K]) a) { z = Exp (x)  a = Optional (z) },
              else_branch = e () => (optional(float[K]) b) { b = Identity (given) }>
  has = OptionalHasElement (o)
  [unwrapped] y = OptionalGetElement (o)
}""".replace("float[N] x)", "float[N] x, optional(float[K]) given)")


def run_case(checks, folder, name, text, inputs):
    model = parse(text)
    onnx.save(model, folder / "case.onnx")
    session = onnxruntime.InferenceSession(str(folder / "case.onnx"), providers=["CPUExecutionProvider"])
    plan = compiled(checks, folder, name)
    for i, given in enumerate(inputs if plan else ()):
        found = plan(flattened(given))
        for output, expected in zip(session.get_outputs(), session.run(None, given)):
            if isinstance(expected, list):
                actual = unpacked(found[output.name + ".values"], found[output.name + ".shapes"])
            else:
                expected, actual = [expected], [found[output.name]]
            same = len(actual) == len(expected) and all(a.shape == e.shape and np.allclose(a, e, rtol=1e-6) for a, e in zip(actual, expected))
            checks.check(same, f"{name}, input {i}: {output.name}" + ("" if same else f" is {actual}, expected {expected}"))


def compiled(checks, folder, name):
    done = run_tool("llmc", folder / "case.onnx", "-o", folder / "case.llmc")
    checks.check(done.returncode == 0, f"{name}: compiles {done.stderr.strip()}")
    return Plan(folder / "case.llmc") if done.returncode == 0 else None


def run_fault(checks, folder, name, text, message, inputs):
    onnx.save(parse(text), folder / "case.onnx")
    plan = compiled(checks, folder, name)
    for i, given in enumerate(inputs if plan else ()):
        try:
            plan(flattened(given))
            checks.check(False, f"{name}, input {i}: fails")
        except RunError as problem:
            checks.check(message in str(problem), f"{name}, input {i}: fails: {problem}")


def run_optional(checks, folder):
    """ONNX Runtime takes no optional of None from Python, so the answers are known instead."""
    onnx.save(parse(HELD), folder / "case.onnx")
    plan = compiled(checks, folder, "an optional")
    if not plan:
        return

    def run(c, has, given):
        return plan({"c": np.array(c), "x": X, "given.has": np.array(has), "given": np.array(given, F)})

    for c, has, given, expected in ((True, False, [], np.exp(X)), (False, True, [1, 2], [1, 2])):
        found = run(c, has, given)
        checks.check(bool(found["has"]) and np.allclose(found["y"], expected), f"an optional of a branch holds its value: {found}")
    try:
        run(False, False, [])
        checks.check(False, "an optional that holds nothing gives nothing")
    except RunError as problem:
        checks.check("unwrapped (OptionalGetElement): the optional holds nothing" in str(problem), f"an optional that holds nothing: {problem}")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        for one in CASES:
            run_case(checks, Path(name), *one)
        for one in FAULTS:
            run_fault(checks, Path(name), *one)
        run_optional(checks, Path(name))
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
