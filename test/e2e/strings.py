#!/usr/bin/env python3
"""Strings, against ONNX Runtime: each case with several inputs in one session. A tensor x of strings is passed as its bytes, x.bytes, and
where each string ends in them, x.ends. Needs LLMC_BIN, or build/release/bin.
"""
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

from checks import Checks, run_tool
from runtime import Plan
from small_models import parse

HEAD = '<ir_version: 10, opset_import: ["" : 21, "ai.onnx.ml" : 4]>'
CASES = []


def case(name, text, *inputs):
    CASES.append((name, text, inputs))


def texts(*strings, shape=None):
    return np.array(strings, object).reshape(len(strings) if shape is None else shape)


def flattened(inputs):
    flat = {}
    for name, value in inputs.items():
        if value.dtype != object:
            flat[name] = value
            continue
        encoded = [string.encode() for string in value.reshape(-1)]
        flat[name + ".bytes"] = np.frombuffer(b"".join(encoded), np.uint8)
        flat[name + ".ends"] = np.cumsum([0] + [len(string) for string in encoded], dtype=np.int64)[1:].reshape(value.shape)
    return flat


def strings_of(data, ends):
    starts = np.concatenate([[0], ends.reshape(-1)])[:-1]
    return texts(*[data[a:b].tobytes().decode() for a, b in zip(starts, ends.reshape(-1))], shape=ends.shape)


case("together, with broadcasting", "g (string[N,M] x, string[M] y) => (string[N,M] z) { z = StringConcat (x, y) }",
     {"x": texts("a", "", "größe", "d", shape=(2, 2)), "y": texts("1", "")}, {"x": texts("a", "b", shape=(2, 1)), "y": texts("")})

case("equal ones", "g (string[N,M] x, string[M] y) => (bool[N,M] z) { z = Equal (x, y) }",
     {"x": texts("a", "", "ab", "b", shape=(2, 2)), "y": texts("ab", "b")}, {"x": texts("", "", shape=(1, 2)), "y": texts("", "a")})

case("moved ones", """
g (string[N] x, int64[K] i, bool[N] c, string[N] y) => (string[K] g, string[M] j, string[R,1] t, string[N] w, int64[1] s) <int64[2] column = {-1, 1}> {
  g = Gather (x, i)  j = Concat <axis = 0> (x, y, x)  t = Reshape (j, column)  w = Where (c, x, y)  s = Shape (j)
}""", *[{"x": texts("one", "", "three"), "y": texts("x", "yy", ""), "c": np.array([1, 0, 1], bool), "i": np.array(i, np.int64)} for i in ([], [2, 0, -1], [1])])

for attributes in ('<delimiter = ".">', '<delimiter = "->">', "", '<delimiter = ".", maxsplit = 1>', "<maxsplit = 1>"):
    # Of an empty string ONNX's own implementation makes one piece where there is a delimiter, ONNX Runtime none.
    case(f"apart by {attributes or 'space'}", f"g (string[N] x) => (string[N,P] y, int64[N] n) {{ y, n = StringSplit {attributes} (x) }}",
         {"x": texts("a.b.c", "..x", "one  two three", " a->b ->", "->->")}, {"x": texts("a")})

case("words that are left out", """
g (string[N] x) => (string[K] a, string[L] b, string[M] c) {
  a = StringNormalizer <locale = "C", is_case_sensitive = 1, stopwords = ["monday"]> (x)
  b = StringNormalizer <locale = "C", is_case_sensitive = 0, case_change_action = "UPPER", stopwords = ["Monday"]> (x)
  c = StringNormalizer <locale = "C", case_change_action = "LOWER"> (x)
}""", {"x": texts("monday", "Monday", "tuesday", "")}, {"x": texts("monday", "monday")})

case("words as numbers, and numbers as words", """
g (string[N,M] x, int64[K] i) => (int64[N,M] y, string[K] z) {
  y = ai.onnx.ml.LabelEncoder <keys_strings = ["a", "", "größe"], values_int64s = [5, 6, 7], default_int64 = 9> (x)
  z = ai.onnx.ml.LabelEncoder <keys_int64s = [1, 2], values_strings = ["one", "two"], default_string = "many"> (i)
}""", {"x": texts("a", "größe", "", "b", shape=(2, 2)), "i": np.array([2, 3, 1, 1], np.int64)})


def run_case(checks, folder, name, text, inputs):
    model = parse(f"{HEAD} {text}")
    onnx.save(model, folder / "case.onnx")
    session = onnxruntime.InferenceSession(str(folder / "case.onnx"), providers=["CPUExecutionProvider"])
    done = run_tool("llmc", folder / "case.onnx", "-o", folder / "case.llmc")
    checks.check(done.returncode == 0, f"{name}: compiles {done.stderr.strip()}")
    plan = Plan(folder / "case.llmc") if done.returncode == 0 else None
    for i, given in enumerate(inputs if plan else ()):
        found = plan(flattened(given))
        for output, expected in zip(session.get_outputs(), session.run(None, given)):
            is_text = output.type == "tensor(string)"
            actual = strings_of(found[output.name + ".bytes"], found[output.name + ".ends"]) if is_text else found[output.name]
            expected = np.asarray(expected)
            same = actual.shape == expected.shape and (actual == expected).all()
            checks.check(same, f"{name}, input {i}: {output.name}" + ("" if same else f" is {actual}, expected {expected}"))


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for one in CASES:
            run_case(checks, Path(folder), *one)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
