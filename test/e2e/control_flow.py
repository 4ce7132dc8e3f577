#!/usr/bin/env python3
"""Branches, loops and sizes that depend on data, against ONNX Runtime: each case with several inputs in one session, as written and
with all dims open, with 1 and 2 threads. Needs LLMC_BIN, or build/release/bin.
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


def vector(*values):
    return np.array(values, F)


def scalar(value, dtype=I):
    return np.array(value, dtype)


CASES = []


def case(name, text, *inputs):
    CASES.append((name, text, inputs))


# --- Branches ------------------------------------------------------------------------------------------------------------------

case("both branches read what is around them", """
g (bool c, float[N] x) => (float[N] y) {
  a = Add (x, x)
  t = If (c) <then_branch = t () => (float[N] u) { u = Mul (a, x) }, else_branch = e () => (float[N] v) { v = Sub (a, x) }>
  y = Add (t, a)
}""", *[{"c": scalar(c, B), "x": vector(1, 2, 3)[:n]} for c in (0, 1) for n in (3, 1)])

case("branches of different sizes", """
g (bool c, float[N,4] x) => (float[R,4] y, int64[2] s) {
  t = If (c) <then_branch = t () => (float[A,4] u) { u = Concat <axis = 0> (x, x) },
              else_branch = e () => (float[B,4] v) <int64[1] z = {0}, int64[1] one = {1}> { v = Slice (x, z, one, z) }>
  y = Exp (t)
  s = Shape (y)
}""", *[{"c": scalar(c, B), "x": np.arange(4 * n, dtype=F).reshape(n, 4) / 10} for c in (1, 0, 1) for n in (3, 1)])

case("nested branches, constants and inputs as results", """
g (bool c, bool d, float[N] x) => (float[N] y, float[M] z) <float[2] k = {5, 6}> {
  y, z = If (c) <
    then_branch = t () => (float[N] r, float[K] q) <float[1] l = {7}> {
      r, q = If (d) <then_branch = tt () => (float[N] r2, float[K] q2) { r2 = Add (x, l) q2 = Identity (l) },
                     else_branch = te () => (float[N] r3, float[N] q3) { r3 = Identity (x) q3 = Identity (x) }>
    },
    else_branch = e () => (float[N] r4, float[2] q4) { r4 = Neg (x) q4 = Identity (k) }>
}""", *[{"c": scalar(c, B), "d": scalar(d, B), "x": vector(1, 2, 3)} for c in (0, 1) for d in (0, 1)])

case("one value for two results, and a scalar against a list of one", """
g (bool c, float[1] x) => (float[1] y, float[1] z, float[1] w) {
  y, z, w = If (c) <then_branch = t () => (float[1] a, float[1] b, float[1] d) { a = Add (x, x) b = Identity (a) d = Identity (a) },
                    else_branch = e () => (float[1] m, float[1] n, float[1] o) { m = Identity (x) n = Identity (x) o = Mul (x, x) }>
}""", *[{"c": scalar(c, B), "x": vector(3)} for c in (0, 1)])

case("a condition that is computed, a branch in front of a fused chain", """
g (float[N] x) => (float[N] y) <float zero = {0}> {
  e = Exp (x)
  s = ReduceSum <keepdims = 0> (x)
  c = Greater (s, zero)
  t = If (c) <then_branch = t () => (float[N] u) { u = Sqrt (e) }, else_branch = f () => (float[N] v) { v = Neg (e) }>
  h = Tanh (t)
  y = Add (h, e)
}""", {"x": vector(1, 2)}, {"x": vector(-1, -2, -3)})

# --- Loops ---------------------------------------------------------------------------------------------------------------------

case("trips that are given, zero among them", """
g (int64 m, float[N] x) => (float[N] y, float[T,N] all) <bool yes = {1}> {
  y, all = Loop (m, yes, x) <body = b (int64 i, bool c, float[N] v) => (bool c2, float[N] w, float[N] s) {
    c2 = Identity (c)  f = Cast <to = 1> (i)  w = Add (v, f)  s = Mul (w, x) }>
}""", *[{"m": scalar(m), "x": vector(1, 2, 3)} for m in (3, 0, 1, 70)])

case("a condition ends the loop", """
g (int64 m, float[1] x, float[1] top) => (float[1] y, float[T,1] all) <int64[1] ax = {0}> {
  c0 = Less (x, top)
  c1 = Squeeze (c0, ax)
  y, all = Loop (m, c1, x) <body = b (int64 i, bool c, float[1] v) => (bool c2, float[1] w, float[1] s) {
    w = Add (v, v)  s = Identity (v)  l = Less (w, top)  c2 = Squeeze (l, ax) }>
}""", *[{"m": scalar(m), "x": vector(x), "top": vector(t)} for m in (3, 50) for x, t in ((1, 100), (5, 2), (1, 2))])

case("no count and no condition, the body ends it", """
g (float[1] x, float[1] top) => (float[1] y, float[T] all) <int64[1] ax = {0}> {
  y, all = Loop (, , x) <body = b (int64 i, bool c, float[1] v) => (bool c2, float[1] w, float s) {
    w = Add (v, v)  s = Squeeze (w, ax)  l = Less (w, top)  c2 = Squeeze (l, ax) }>
}""", *[{"x": vector(1), "top": vector(t)} for t in (100, 2)])

case("values that grow, two at one pace and one at another", """
g (int64 m, float[N] x) => (float[P] y, float[Q] z, float[R] w) <bool yes = {1}, float[2] two = {8, 9}> {
  y, z, w = Loop (m, yes, x, x, x) <body = b (int64 i, bool c, float[A] a, float[B] b, float[C] d) =>
                                             (bool c2, float[A2] a2, float[B2] b2, float[C2] d2) {
    c2 = Identity (c)
    s = Add (a, b)
    a2 = Concat <axis = 0> (s, two)
    b2 = Concat <axis = 0> (two, s)
    d2 = Concat <axis = 0> (d, d) }>
}""", *[{"m": scalar(m), "x": vector(1, 2, 3)[:n]} for m in (0, 1, 3, 5) for n in (3, 2)])

case("a value that shrinks to nothing", """
g (float[N] x) => (float[M] y, int64[1] n) <int64 m = {3}, bool yes = {1}, int64[1] one = {1}, int64[1] end = {100}, int64[1] ax = {0}> {
  y = Loop (m, yes, x) <body = b (int64 i, bool c, float[A] a) => (bool c2, float[B] a2) {
    c2 = Identity (c)  a2 = Slice (a, one, end, ax) }>
  n = Shape (y)
}""", {"x": vector(1, 2, 3, 4, 5)}, {"x": vector(1, 2, 3)}, {"x": vector(1)})

case("values that change places, stay, come twice, and a constant", """
g (int64 m, float[2] x, float[2] y) => (float[2] a, float[2] b, float[2] c, float[2] d, float[2] e, float[T,2] s, float[T,2] r)
  <bool yes = {1}, float[2] k = {5, 6}> {
  a, b, c, d, e, s, r = Loop (m, yes, x, y, x, x, y) <body = b (int64 i, bool t, float[2] p, float[2] q, float[2] o, float[2] n, float[2] l) =>
      (bool t2, float[2] p2, float[2] q2, float[2] o2, float[2] n2, float[2] l2, float[2] s2, float[2] r2) {
    t2 = Identity (t)  p2 = Identity (q)  q2 = Identity (p)  o2 = Identity (o)
    n2 = Add (n, p)  l2 = Identity (k)  s2 = Identity (p)  r2 = Identity (n2) }>
}""", *[{"m": scalar(m), "x": vector(1, 2), "y": vector(3, 4)} for m in (0, 1, 2, 3)])

case("values of changing size that change places", """
g (int64 m, float[N] x, float[M] y) => (float[P] a, float[Q] b) <bool yes = {1}, float[1] k = {7}> {
  a, b = Loop (m, yes, x, y) <body = b (int64 i, bool t, float[A] p, float[B] q) => (bool t2, float[C] p2, float[D] q2) {
    t2 = Identity (t)  p2 = Identity (q)  q2 = Concat <axis = 0> (p, k) }>
}""", *[{"m": scalar(m), "x": vector(1, 2), "y": vector(3, 4, 5)} for m in (0, 1, 2, 5)])

case("loops in loops, a branch in the inner one, captures from everywhere", """
g (int64 m, float[N] x) => (float[N] y, float[T,U] z) <bool yes = {1}, int64 three = {3}, int64 two = {2}> {
  y, z = Loop (m, yes, x) <body = o (int64 i, bool c, float[N] v) => (bool c2, float[N] w, float[U] s) {
    c2 = Identity (c)
    d = Add (v, x)
    w, s = Loop (three, yes, d) <body = n (int64 j, bool e, float[N] p) => (bool e2, float[N] q, float r) {
      e2 = Identity (e)
      ij = Add (i, j)
      odd = Mod (ij, two)
      isodd = Cast <to = 9> (odd)
      q = If (isodd) <then_branch = t () => (float[N] u) { u = Add (p, v) }, else_branch = f () => (float[N] g) { g = Sub (p, x) }>
      r = ReduceSum <keepdims = 0> (q) }>
  }>
}""", *[{"m": scalar(m), "x": vector(1, 2, 3)[:n]} for m in (0, 1, 4) for n in (3, 1)])

case("sizes that a body computes from what it carries", """
g (int64 n, float[4] x) => (float[R] y, int64[1] k) <int64 m = {3}, bool yes = {1}, int64[1] z = {0}, int64[1] one = {1}, float[1] v = {2}> {
  l0 = Unsqueeze (n, z)
  k, y = Loop (m, yes, l0, x) <body = b (int64 i, bool c, int64[1] l, float[A] a) => (bool c2, int64[1] l2, float[B] a2) {
    c2 = Identity (c)  l2 = Add (l, one)  f = Expand (v, l)  a2 = Concat <axis = 0> (a, f) }>
}""", {"n": scalar(2), "x": vector(1, 2, 3, 4)}, {"n": scalar(0), "x": vector(1, 2, 3, 4)})

case("large values, shared by workers", """
g (int64 m, float[N,256] x) => (float[N,256] y, float[T,N] s) <bool yes = {1}, float tenth = {0.1}> {
  y, s = Loop (m, yes, x) <body = b (int64 i, bool c, float[N,256] v) => (bool c2, float[N,256] w, float[N] r) {
    c2 = Identity (c)  e = Tanh (v)  p = Mul (e, tenth)  w = Add (v, p)  r = ReduceMean <axes = [1], keepdims = 0> (w) }>
}""", {"m": scalar(5), "x": np.random.default_rng(1).standard_normal((300, 256), F)})

# --- Scans ---------------------------------------------------------------------------------------------------------------------

case("scans along other axes, backwards, with two sequences", """
g (float[N] x, float[N,T] a, float[T,N] b) => (float[N] y, float[N,T] p, float[T,N] q) {
  y, p, q = Scan (x, a, b) <num_scan_inputs = 2, scan_input_axes = [1, 0], scan_input_directions = [0, 1], scan_output_axes = [1, 0],
                            scan_output_directions = [0, 1], body = s (float[N] v, float[N] c, float[N] d) => (float[N] w, float[N] o, float[N] r) {
    e = Add (v, c)  w = Mul (e, d)  o = Identity (e)  r = Sub (w, c) }>
}""", *[{"x": vector(1, 2), "a": np.arange(2 * t, dtype=F).reshape(2, t) / 5, "b": np.arange(2 * t, dtype=F).reshape(t, 2) / 7} for t in (3, 1)])

# --- Sizes that depend on data -------------------------------------------------------------------------------------------------

case("the places of what is not zero", """
g (float[N,M] x) => (int64[2,K] p, int64[2] s, float[K] v) {
  p = NonZero (x)
  s = Shape (p)
  t = Transpose <perm = [1, 0]> (p)
  g = GatherND (x, t)
  v = Exp (g)
}""", {"x": np.array([[0, 1, 0], [2, 0, 3]], F)}, {"x": np.zeros((2, 3), F)}, {"x": np.ones((1, 2), F)})

case("a condition chooses rows, in a loop", """
g (float[N,2] x, bool[N] c, int64 m) => (float[K,2] y, float[R,2] z) <bool yes = {1}> {
  y = Compress <axis = 0> (x, c)
  z = Loop (m, yes, y) <body = b (int64 i, bool g, float[A,2] v) => (bool g2, float[B,2] w) {
    g2 = Identity (g)  w = Concat <axis = 0> (v, y) }>
}""", {"x": np.arange(8, dtype=F).reshape(4, 2), "c": np.array([1, 0, 1, 1], B), "m": scalar(2)},
     {"x": np.arange(8, dtype=F).reshape(4, 2), "c": np.zeros(4, B), "m": scalar(2)})

case("a range between limits that the run knows", """
g (int64 a, int64 b, float p, float q, float r) => (int64[K] y, float[L] z, float[K] w) <int64 three = {3}> {
  y = Range (a, b, three)
  z = Range (p, q, r)
  f = Cast <to = 1> (y)
  w = Exp (f)
}""", {"a": scalar(-4), "b": scalar(6), "p": scalar(0, F), "q": scalar(1, F), "r": scalar(0.3, F)},
     {"a": scalar(4), "b": scalar(-6), "p": scalar(5, F), "q": scalar(1, F), "r": scalar(-2, F)})

case("unique elements", """
g (int64[N] x) => (int64[K] y, int64[K] i, int64[N] v, int64[K] c) { y, i, v, c = Unique <sorted = 1> (x) }""",
     {"x": np.array([5, 2, 5, 1, 2, 2], I)}, {"x": np.array([7], I)})

# What ONNX Runtime does not do: zero trips give results that collect the dims of the body.
EMPTY = parse("""
g (int64 m, float[2] x) => (float[2] y, float[T,2] all) <bool yes = {1}> {
  y, all = Loop (m, yes, x) <body = b (int64 i, bool c, float[2] v) => (bool c2, float[2] w, float[2] s) {
    c2 = Identity (c)  w = Add (v, v)  s = Identity (w) }>
}""")
ENDLESS = parse("""
g (float[1] x) => (float[1] y) {
  [forever] y = Loop (, , x) <body = b (int64 i, bool c, float[1] v) => (bool c2, float[1] w) { c2 = Identity (c)  w = Add (v, v) }>
}""")


FAILING = parse("""
g (bool c, float[3] x) => (float[3] y) {
  y = If (c) <then_branch = t () => (float[3] u) { u = Neg (x) },
              else_branch = e () => (float[3] v) { [turned] v = Transpose <perm = [1, 0]> (x) }>
}""")


def opened(model):
    """The model with every dim of its inputs open, each by a name of its own."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    for value in result.graph.input:
        for i, dim in enumerate(value.type.tensor_type.shape.dim):
            dim.dim_param = dim.dim_param or f"{value.name}_{i}"
    return result


def equal(expected, actual):
    if expected.dtype != actual.dtype or expected.ndim != actual.ndim:
        return False
    if expected.ndim and expected.shape[0] == actual.shape[0] == 0:
        return True  # for what zero trips collect ONNX Runtime does not know the other dims
    return expected.shape == actual.shape and np.allclose(actual, expected, rtol=1e-5, atol=1e-6)


def compare(checks, what, expected, actual):
    same = all(equal(e, actual[n]) for n, e in expected.items())
    checks.check(same, what if same else f"{what}: expected {expected}, found {actual}")


def run_case(checks, folder, name, text, inputs):
    model = parse(text)
    onnx.save(model, folder / "case.onnx")
    session = onnxruntime.InferenceSession(str(folder / "case.onnx"), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    expected = [dict(zip(names, session.run(names, given))) for given in inputs]
    for kind, variant in (("as written", model), ("open", opened(model))):
        onnx.save(variant, folder / "case.onnx")
        done = run_tool("llmc", folder / "case.onnx", "-o", folder / "case.llmc")
        if done.returncode:
            checks.check(False, f"{name}, {kind}: compiles: {done.stderr.strip()}")
            continue
        one, two = Plan(folder / "case.llmc", threads=1), Plan(folder / "case.llmc", threads=2)
        for i, (given, wanted) in enumerate(zip(inputs, expected)):
            found, again = one(given), two(given)
            compare(checks, f"{name}, {kind}, input {i}", wanted, found)
            same = all(found[n].tobytes() == again[n].tobytes() for n in found)
            checks.check(same, f"{name}, {kind}, input {i}: 2 threads give the same bits")
        one.close()
        two.close()


def zero_trips(checks, folder):
    onnx.save(EMPTY, folder / "empty.onnx")
    done = run_tool("llmc", folder / "empty.onnx", "-o", folder / "empty.llmc")
    checks.check(done.returncode == 0, f"a loop that collects compiles: {done.stderr.strip()}")
    results = Plan(folder / "empty.llmc")({"m": scalar(0), "x": vector(1, 2)})
    checks.check(results["all"].shape == (0, 2) and list(results["y"]) == [1, 2], "zero trips collect nothing, of the body's dims")


def limit(checks, folder):
    onnx.save(ENDLESS, folder / "endless.onnx")
    done = run_tool("llmc", folder / "endless.onnx", "-o", folder / "endless.llmc", "--max-trips=1000")
    checks.check(done.returncode == 0, f"a loop without end compiles: {done.stderr.strip()}")
    try:
        Plan(folder / "endless.llmc")({"x": vector(1)})
        checks.check(False, "a loop without end ends in an error")
    except RunError as fault:
        checks.check("does not end after 1000 trips" in str(fault) and "forever" in str(fault), f"a loop without end fails: {fault}")


def failing_branch(checks, folder):
    onnx.save(FAILING, folder / "failing.onnx")
    done = run_tool("llmc", folder / "failing.onnx", "-o", folder / "failing.llmc")
    checks.check(done.returncode == 0 and "warning" in done.stderr, f"a model with a wrong branch compiles, with a warning: {done.stderr.strip()}")
    plan = Plan(folder / "failing.llmc")
    checks.check(list(plan({"c": scalar(1, B), "x": vector(1, 2, 3)})["y"]) == [-1, -2, -3], "the other branch gives its answer")
    try:
        plan({"c": scalar(0, B), "x": vector(1, 2, 3)})
        checks.check(False, "a run that takes the wrong branch fails")
    except RunError as fault:
        checks.check("turned: Transpose" in str(fault) and "found" not in str(fault), f"a run that takes the wrong branch fails: {fault}")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for one in CASES:
            run_case(checks, folder, *one)
        zero_trips(checks, folder)
        limit(checks, folder)
        failing_branch(checks, folder)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
