#!/usr/bin/env python3
"""docs/semantics.md says what is computed: each line of its table, by llmc and by ONNX Runtime. Needs build/release/test/node-tests."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from checks import ROOT, Checks

TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "bool": np.bool_, "i8": np.int8, "i32": np.int32, "i64": np.int64,
         "u8": np.uint8, "u32": np.uint32}
ARRAY = re.compile(r"(\w+)(?:\{([\d,]*)\})?\[([^\]]*)\]")
OPSET = 21


def arrays(text):
    found = []
    for match in ARRAY.finditer(text):
        kind, dims, elements = match.groups()
        numbers = [float(element) if re.search("[.ne]", element) else int(element) for element in re.split(r",\s*", elements) if element]
        flat = np.array(numbers).astype(TYPES[kind]) if numbers else np.zeros(0, TYPES[kind])
        found.append(flat if dims is None else flat.reshape([int(d) for d in dims.split(",") if d]))
    return found


def attribute(text):
    name, value = text.split("=")
    if value in TYPES:
        return name, helper.np_dtype_to_tensor_dtype(np.dtype(TYPES[value]))
    return name, int(value) if re.fullmatch(r"-?\d+", value) else value


def single_node(text, results):
    """The model of a node and its inputs; the outputs are typed by `results`."""
    op, attributes, arguments = re.fullmatch(r"(\w+)(?:<(.*?)>)?\((.*)\)", text).groups()
    inputs = arrays(arguments)
    outputs = [f"y{i}" for i in range({"TopK": 2, "DynamicQuantizeLinear": 3}.get(op, 1))]
    node = helper.make_node(op, [f"x{i}" for i in range(len(inputs))], outputs, **dict(map(attribute, re.split(r",\s*", attributes) if attributes else [])))
    kind = lambda array: helper.np_dtype_to_tensor_dtype(array.dtype)  # noqa: E731
    infos = [helper.make_tensor_value_info(f"x{i}", kind(array), array.shape) for i, array in enumerate(inputs)]
    typed = [helper.make_tensor_value_info(name, kind(array), None) for name, array in zip(outputs, results)]
    graph = helper.make_graph([node], "line", infos, typed or [helper.make_empty_tensor_value_info(name) for name in outputs])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10), inputs


def write(folder, model, inputs, outputs):
    (folder / "test_data_set_0").mkdir(parents=True)
    onnx.save(model, folder / "model.onnx")
    for kind, tensors in (("input", inputs), ("output", outputs)):
        for i, array in enumerate(tensors):
            (folder / f"test_data_set_0/{kind}_{i}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())


def check_runtime(model, inputs, expected, what, checks):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    found = session.run(None, {f"x{i}": array for i, array in enumerate(inputs)})
    same = len(found) == len(expected) and all(np.shape(a) == b.shape and np.allclose(a, b, rtol=1e-6, atol=0, equal_nan=True) for a, b in zip(found, expected))
    checks.check(same, f"ONNX Runtime: {what} (gives {found})")


def main():
    checks, errors = Checks(), {}
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as temporary:
        lines = re.findall(r"^\| `(.*?)` \| `(.*?)` \| (.*?) \|", (ROOT / "docs/semantics.md").read_text(), re.M)
        for i, (node, given, runtime) in enumerate(lines):
            expected = arrays(given) if not given.startswith("error") else []
            model, inputs = single_node(node, expected)
            errors[str(i)] = given.partition("error: ")[2]
            write(Path(temporary) / str(i), model, inputs, expected)
            if runtime.startswith("`"):
                check_runtime(model, inputs, arrays(runtime), node, checks)
        for mode in ("static", "constant"):
            command = [ROOT / "build/release/test/node-tests", temporary, mode, "--list"]
            text = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ, TMPDIR=temporary)).stdout
            wrong = dict(re.findall(r"^(?:FAILED|skipped) (\d+): (.*)$", text, re.M))
            for i, (node, given, _) in enumerate(lines):
                problem = wrong.get(str(i), "")
                holds = bool(re.search(r"\d+ passed", text)) and (errors[str(i)] in problem if errors[str(i)] else not problem)
                checks.check(holds and bool(problem) == bool(errors[str(i)]), f"{mode}: {node} gives {given} {problem and '(' + problem + ')'}")
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
