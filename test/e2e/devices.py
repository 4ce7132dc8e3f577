#!/usr/bin/env python3
"""Models cut across the CPU and simulated devices: each cut gives the bits of the uncut model, and no copy or wait is superfluous.

    devices.py [--cuts N] [--seed N]   random cuts of each large model (default 12). Needs LLMC_BIN, or build/release/bin.
"""
import argparse
import itertools
import json
import random
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx

import control_flow
from checks import BIN, Checks, ROOT, run_tool
from models import image_inputs, text_inputs, voice_inputs
from runtime import Plan, RunError
from small_models import convnet, parse

sys.path.insert(0, str(ROOT / "tools/models"))
from get import provide  # noqa: E402

DEVICES = {"cpu": "cpu", "left": "sim:0", "right": "sim:1"}
DROP_EACH = BIN.parent / "test/drop-each"

# Two reductions, a softmax of several nodes, a product, an output that is read again: all that can go wrong between three devices.
BRANCHES = """g (float[N,8] x) => (float[N,8] y, float[N,1] m) <float[8,8] w = {%s}> {
  [product] p = MatMul (x, w)
  [soft] s = Softmax (p)
  [mean] m = ReduceMean <axes = [1]> (s)
  [shift] d = Sub (x, m)
  [join] y = Mul (d, s)
}""" % ", ".join(str((i * 7 % 11) / 8 - 0.5) for i in range(64))


def pins_of(placement):
    """Flags that put each node on its device: one expression per device and 100 nodes."""
    flags = [flag for name, kind in DEVICES.items() for flag in ("--device", f"{name}={kind}")]
    for device in DEVICES:
        names = [re.escape(node) for node, where in placement.items() if where == device]
        for first in range(0, len(names), 100):
            flags += ["--pin", f"{device}=^({'|'.join(names[first:first + 100])})$"]
    return flags


# The smallest models with blocks: what they read, give and carry crosses between devices in all ways.
BRANCH = """g (bool c, float[N,8] x) => (float[N,8] y) {
  [before] a = Softmax (x)
  t = If (c) <then_branch = t () => (float[N,8] u) { [then] u = Mul (a, x) }, else_branch = e () => (float[N,8] v) { [else] v = Sub (a, x) }>
  [after] y = Add (t, a)
}"""
LOOP = """g (int64 m, float[N] x) => (float[N] y, float[T,N] all) <bool yes = {1}> {
  [before] a = Exp (x)
  y, all = Loop (m, yes, a) <body = b (int64 i, bool c, float[N] v) => (bool c2, float[N] w, float[N] s) {
    c2 = Identity (c)  [count] f = Cast <to = 1> (i)  [grow] w = Add (v, f)  [scale] s = Mul (w, a) }>
}"""


def graphs_of(node):
    return [attribute.g for attribute in node.attribute if attribute.HasField("g")]


def movable_nodes(graph):
    """Names of the nodes of a graph and of those inside of it. Control flow is the host's."""
    names = []
    for node in graph.node:
        names += [name for inner in graphs_of(node) for name in movable_nodes(inner)] if graphs_of(node) else [node.name] if node.name else []
    return names


def give_names(graph, prefix="n"):
    """Names all nodes."""
    for i, node in enumerate(graph.node):
        node.name = f"{prefix}{i}"
        for k, inner in enumerate(graphs_of(node)):
            give_names(inner, f"{node.name}.{k}.")


class Model:
    """A model with the outputs of its uncut artifact for each of some inputs."""

    def __init__(self, path, inputs, folder, flags=()):
        self.path, self.inputs, self.folder, self.flags = path, inputs, folder, list(flags)
        self.nodes = movable_nodes(onnx.load(path, load_external_data=False).graph)
        self.expected = self.run(self.compile([]), 1)

    def compile(self, flags):
        artifact, report = self.folder / "model.llmc", self.folder / "report.json"
        done = run_tool("llmc", self.path, "-o", artifact, "--report", report, *self.flags, *flags)
        if done.returncode:
            raise RuntimeError(f"llmc {' '.join(flags)}: {done.stderr.strip()}")
        self.report = json.loads(report.read_text())
        return artifact

    def run(self, artifact, threads):
        plan = Plan(artifact, threads)
        outputs = {(name, i): value.tobytes() for i, given in enumerate(self.inputs) for name, value in plan(given).items()}
        plan.close()
        return outputs

    def differs(self, placement):
        """Why a cut is wrong; None if it is not."""
        try:
            artifact = self.compile(pins_of(placement))
            for threads in (1, 2):
                outputs = self.run(artifact, threads)
                changed = [name for name in self.expected if outputs[name] != self.expected[name]]
                if changed:
                    return f"other bits in {changed} with {threads} threads"
        except (RuntimeError, RunError) as error:
            return str(error)[-400:]
        return None


def check_cuts(model, placements, what, checks):
    wrong = {}
    for number, placement in enumerate(placements):
        if difference := model.differs(placement):
            wrong[number] = (difference, placement)
    for number, (difference, placement) in list(wrong.items())[:3]:
        print(f"    cut {number}: {difference}\n    {placement}", flush=True)
    checks.check(not wrong, f"{what}: {len(placements) - len(wrong)} of {len(placements)} cuts give the bits of the uncut model")


def all_placements(nodes):
    return [dict(zip(nodes, where)) for where in itertools.product(DEVICES, repeat=len(nodes))]


def prefix_placements(nodes):
    """The first nodes on one device, the others on another."""
    return [{node: first if i < length else second for i, node in enumerate(nodes)}
            for first, second in itertools.permutations(DEVICES, 2) for length in range(len(nodes))]


def random_placement(nodes, rng, change=None):
    """Runs of nodes, of a length that is drawn for each cut if it is not given: from a device for each node to a few large pieces."""
    change, device = change or rng.choice([1, 0.3, 0.05]), rng.choice(list(DEVICES))
    placement = {}
    for node in nodes:
        if rng.random() < change:
            device = rng.choice(list(DEVICES))
        placement[node] = device
    return placement


def check_drops(model, placement, checks):
    """No copy and no wait can be left out of the plan."""
    artifact = model.compile(pins_of(placement))
    if not model.report["crossings"]:
        return
    done = run_tool(DROP_EACH, artifact)
    checks.check(done.returncode == 0, f"what is left out is noticed: {(done.stdout + done.stderr).strip()[-300:]}")


def check_small(folder, checks):
    rng = np.random.default_rng(1)
    onnx.save(parse(BRANCHES), folder / "branches.onnx")
    branches = Model(folder / "branches.onnx", [{"x": rng.standard_normal((5, 8), dtype=np.float32)}], folder)
    check_cuts(branches, all_placements(branches.nodes), "a model of two branches", checks)
    onnx.save(convnet()[0], folder / "convnet.onnx")
    small = Model(folder / "convnet.onnx", [{"x": rng.standard_normal((2, 3, 23, 18), dtype=np.float32)}], folder)
    check_cuts(small, prefix_placements(small.nodes), "a small convolutional net", checks)
    placements = random.Random(0)
    for model in (branches, small):
        check_drops(model, random_placement(model.nodes, placements), checks)
    check_report(branches, checks)
    check_profile(branches, folder, checks)


def check_report(model, checks):
    model.compile(pins_of({node: "left" if node in ("soft", "mean") else "cpu" for node in model.nodes}))
    crossings = [(c["nodes"], c["from"], c["to"], c["size"]) for c in model.report["crossings"]]
    checks.check((["product"], "cpu", "left", "32 * N") in crossings, f"the report has the crossings: {crossings}")
    segments = [(segment["device"], segment["nodes"]) for segment in model.report["segments"]]
    checks.check([device for device, _ in segments] == ["cpu", "left", "cpu"], f"the report has the segments: {segments}")


def check_profile(model, folder, checks):
    artifact, profile = model.compile(pins_of({node: "left" for node in model.nodes})), folder / "profile"
    profile.write_text("sim:0 copy_ns 1000\nsim:0 launch_ns 100\n")
    times = [run_tool("llmc-run", artifact, "--random", "1", "--device-profile", profile).stderr.split("virtual time ")[1] for _ in range(3)]
    checks.check(len(set(times)) == 1 and times[0].endswith("us\n"), f"a virtual clock gives the same time in each run: {times[0].strip()}")
    profile.write_text("sim:0 memory_bytes 100\n")
    done = run_tool("llmc-run", artifact, "--random", "1", "--device-profile", profile)
    checks.check(done.returncode == 1 and "device 'left' (sim:0) has 100 bytes of memory" in done.stderr, f"memory ends: {done.stderr.strip()[-200:]}")


def check_options(folder, checks):
    onnx.save(parse(BRANCHES), folder / "branches.onnx")
    devices = ["--device", "cpu=cpu", "--device", "left=sim:0"]
    for flags, message in ((["--device", "left=tpu"], "is not NAME=cpu or NAME=sim:N"), (devices + ["--device", "left=sim:1"], "of that name already"),
                           (devices + ["--device", "twin=sim:0"], "is the device that is named 'left' already"),
                           (devices + ["--pin", "up=soft"], "no --device is named 'up'"), (devices + ["--pin", "left=("], "parentheses not balanced"),
                           (devices + ["--pin", "left=nothing"], "no node of the model has such a name"), (["--pin", "left=soft"], "no --device is named")):
        done = run_tool("llmc", folder / "branches.onnx", "-o", folder / "wrong.llmc", *flags)
        checks.check(done.returncode == 2 and message in done.stderr, f"{' '.join(flags)}: exit {done.returncode}, {done.stderr.strip()}")


def check_large(name, flags, inputs, cuts, seed, folder, checks):
    model, rng = Model(provide(name), inputs, folder, flags), random.Random(f"{seed} {name}")
    check_cuts(model, [random_placement(model.nodes, rng) for _ in range(cuts)], name, checks)
    check_drops(model, random_placement(model.nodes, rng), checks)


def check_blocks(folder, checks):
    """Nodes inside If, Loop and Scan: all cuts of two small models, some of each model of control_flow.py."""
    rng, placements = np.random.default_rng(1), random.Random(0)
    x = rng.standard_normal((5, 8), dtype=np.float32)
    for what, text, inputs in (("a branch", BRANCH, [{"c": np.array(c), "x": x} for c in (True, False)]),
                               ("a loop", LOOP, [{"m": np.array(m), "x": x[0]} for m in (3, 0)])):
        onnx.save(parse(text), folder / "blocks.onnx")
        model = Model(folder / "blocks.onnx", inputs, folder)
        check_cuts(model, all_placements(model.nodes), what, checks)
        for _ in range(4):
            check_drops(model, random_placement(model.nodes, placements, change=1), checks)
    model.compile(pins_of({node: "left" if node == "grow" else "cpu" for node in model.nodes}))
    crossings = [(c["nodes"], c["from"], c["to"]) for c in model.report["crossings"]]
    checks.check(crossings.count((["grow"], "left", "cpu")) == 1, f"the report has the crossings in a loop: {crossings}")
    segments = [(segment["device"], segment["nodes"]) for segment in model.report["segments"]]
    checks.check(("left", ["grow"]) in segments, f"the report has the segments in a loop: {segments}")
    for what, text, inputs in control_flow.CASES:
        graph = parse(text)
        give_names(graph.graph)
        onnx.save(graph, folder / "blocks.onnx")
        model = Model(folder / "blocks.onnx", inputs, folder)
        cuts = [random_placement(model.nodes, placements, change=1) for _ in range(3)]
        check_cuts(model, cuts, what, checks)
        check_drops(model, cuts[0], checks)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cuts", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        check_options(Path(folder), checks)
        check_small(Path(folder), checks)
        check_blocks(Path(folder), checks)
        for name, flags, *inputs in (("minilm_l6", ["--dim", "N=1..8", "--dim", "S=4..128"], text_inputs(2, 16)),
                                     ("mobilenet_v2", ["--dim", "N=1"], image_inputs("input", 1)),
                                     ("silero_vad", [], voice_inputs(1), voice_inputs(1, 288, 8000)),
                                     ("silero_vad_op18_ifless", ["--shape", "input=1x576"], voice_inputs(1))):
            check_large(name, flags, inputs, arguments.cuts, arguments.seed, Path(folder), checks)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
