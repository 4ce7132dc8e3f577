#!/usr/bin/env python3
"""Graphs of very many nodes: they compile, in a time that grows with their number, and compute what NumPy does.

    large_graphs.py [--nodes N]     default 10,000; 100,000 is what docs/robustness.md has
"""
import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from checks import Checks, run_tool
from runtime import Plan

X = np.array([[0.5, -1, 2, -3]], np.float32)


def value(name, width=4):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", width])


def save(path, nodes, outputs, tensors=(), inputs=("v0",)):
    graph = helper.make_graph(nodes, "large", [value(name) for name in inputs], outputs, list(tensors))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def chain(path, count):
    """Each node reads the one before it."""
    ops = ["Neg", "Abs", "Neg", "Relu"]
    save(path, [helper.make_node(ops[i % 4], [f"v{i}"], [f"v{i + 1}"], f"node{i}") for i in range(count)], [value(f"v{count}")])
    result = X
    for i in range(count):
        result = [lambda x: -x, np.abs, lambda x: -x, lambda x: np.maximum(x, 0)][i % 4](result)
    return result


def products(path, count):
    """Kernels that can not be joined."""
    turn = np.roll(np.eye(4, dtype=np.float32), 1, axis=1)
    save(path, [helper.make_node("MatMul", [f"v{i}", "w"], [f"v{i + 1}"], f"node{i}") for i in range(count)], [value(f"v{count}")],
         [numpy_helper.from_array(turn, "w")])
    return np.roll(X, count % 4, axis=1)


def constants(path, count):
    """Half of the nodes are constants, all different."""
    numbers = [numpy_helper.from_array(np.full(4, i % 7 + i / count, np.float32)) for i in range(count // 2)]
    nodes = [helper.make_node("Constant", [], [f"c{i}"], value=number) for i, number in enumerate(numbers)]
    nodes += [helper.make_node("Max", [f"v{i}", f"c{i}"], [f"v{i + 1}"], f"node{i}") for i in range(count // 2)]
    save(path, nodes, [value(f"v{count // 2}")])
    return np.maximum(X, max(numpy_helper.to_array(number)[0] for number in numbers))


def fan(path, count, kernels=50):
    """One value is read by all nodes but the last, which reads all of them. As many kernels as there are weights."""
    weights = [numpy_helper.from_array(np.eye(4, 1 + i, dtype=np.float32), f"w{i}") for i in range(kernels)]
    nodes = [helper.make_node("MatMul", ["v0", f"w{i % kernels}"], [f"p{i}"], f"node{i}") for i in range(count)]
    nodes.append(helper.make_node("Concat", [f"p{i}" for i in range(count)], ["y"], "all", axis=1))
    expected = np.concatenate([X @ np.eye(4, 1 + i % kernels, dtype=np.float32) for i in range(count)], axis=1)
    save(path, nodes, [value("y", expected.shape[1])], weights)
    return expected


def kernels(path, count):
    """No two products are of one size, so none share code."""
    return fan(path, count // 100, count // 100)


def check_graph(kind, count, folder, checks):
    model, artifact = folder / "model.onnx", folder / "model.llmc"
    expected = kind(model, count)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = run_tool("llmc", model, "-o", artifact, timeout=3600)
    used, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - start
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    what = f"{kind.__name__} of {count} nodes: {cpu:.1f} s of CPU in {seconds:.1f} s, {used.ru_maxrss >> 10} MiB"
    if done.returncode:
        return checks.check(False, f"{what}: {done.stderr.strip()[-400:]}")
    checks.check(cpu < 60 * max(1, count / 10000), what)  # the limit is for what grows faster than the number of nodes
    plan = Plan(artifact, threads=2)
    (result,) = plan({"v0": X}).values()
    plan.close()
    checks.check(np.array_equal(result, expected), f"{kind.__name__} of {count} nodes gives what NumPy gives")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=10000)
    parser.add_argument("--only")
    arguments = parser.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        for kind in (chain, products, constants, fan, kernels):
            if arguments.only in (None, kind.__name__):
                check_graph(kind, arguments.nodes, Path(name), checks)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
