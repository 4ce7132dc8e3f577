#!/usr/bin/env python3
"""Artifacts that know how requests share a run: what the compiler proves, what it tries, and what it refuses, with the reason.

Needs LLMC_BIN, or build/release/bin.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx

from checks import BIN, Checks, ROOT, run_tool
from models import text_inputs
from runtime import Plan
from small_models import parse

sys.path.insert(0, str(ROOT / "tools/models"))
from get import provide  # noqa: E402

BATCH = ["--dim", "N=1..8", "--batch-dim", "N"]

# Loops over x, whose rows the body keeps apart or not, and whose condition `on` it makes.
LOOP = """g (float[N,4] x, int64[N,4] i) => (float[N,4] y, float[T,N,4] all) <int64 trips = {3}, bool go = {1}, int64 two = {2}, float one = {1.0}>
          { y, all = Loop <body = step (int64 t, bool more, float[N,4] a) => (bool on, float[N,4] b, float[N,4] c)
            { %s c = Neg (b) }> (trips, go, x) }"""
PICK = "[own] b = GatherElements <axis = 1> (a, i)"
SCAN = """g (float[N,4] h, int64[N,3,4] i) => (float[N,4] y, float[N,3,4] all)
          { y, all = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1], body = step (float[N,4] a, int64[N,4] j) => (float[N,4] b, float[N,4] c)
            { [own] b = GatherElements <axis = 1> (a, j) c = Neg (b) }> (h, i) }"""
BRANCH = """g (float[N,4] x, int64[N,4] i, bool[1] flag) => (float[N,4] y)
            { y = If (flag) <then_branch = yes () => (float[N,4] a) { [own] a = GatherElements <axis = 1> (x, i) },
                             else_branch = no () => (float[N,4] b) { b = Neg (x) }> }"""

# Name: model, flags, how rows are shown to be independent, how each bucket is shown to be safe.
ACCEPTED = {
    "row by row": ("g (float[N,4] x) => (float[N] y) <int64[1] axis = {1}> { [sum] y = ReduceSum <keepdims = 0> (x, axis) }", [], "proof", []),
    "rows along axis 1": ("g (float[3,N,4] x) => (float[N,3,4] y) { [turn] y = Transpose <perm = [1, 0, 2]> (x) }", [], "proof", []),
    "a shared input": ("g (float[N,4] x, float[4,4] w) => (float[N,4] y) { [product] y = MatMul (x, w) }", [], "proof", []),
    "a length nobody computes across": ("g (float[N,S,4] x) => (float[N,S,4] y) { [soft] y = Softmax <axis = -1> (x) }",
                                        ["--buckets", "S=4,16"], "proof", ["proof"]),
    "a mask": ("""g (float[N,S,4] x, int64[N,S] mask) => (float[N,4] y) <int64[1] one = {1}, int64[1] two = {2}> {
                  m = Cast <to = 1> (mask) e = Unsqueeze (m, two) v = Mul (x, e)
                  [sum] s = ReduceSum <keepdims = 0> (v, one) [count] c = ReduceSum <keepdims = 0> (e, one) y = Div (s, c) }""",
               ["--buckets", "S=4,16", "--mask", "mask"], "proof", ["trial"]),
    "a pad value": ("g (float[N,S] x) => (float[N] y) { [best] y = ReduceMax <axes = [1], keepdims = 0> (x) }",
                    ["--buckets", "S=4,16", "--pad", "x=-1000"], "proof", ["trial"]),
    "a loop": (LOOP % f"on = Identity (more) {PICK}", [], "proof", []),
    "a loop that ends by itself": (LOOP % f"on = Less (t, two) {PICK}", [], "proof", []),
    "a scan": (SCAN, [], "proof", []),
    "a branch": (BRANCH, [], "proof", []),
    "what no rule is known of": ("g (float[N,4] x) => (float[N,4] y) <int64[1] axes = {1}, int64[1] zero = {0}, int64[1] two = {2}> "
                                 "{ [front] a = Slice (x, zero, two, axes) [flat] f = DepthToSpace <blocksize = 1> (i) "
                                 "s = Shape (x) i = Reshape (x, shape) [again] y = Reshape (f, s) shape = Constant <value_ints = [0, 4, 1, 1]> () }",
                                 [], "proof", []),
}

# Name: model, flags, what the message says.
REFUSED = {
    "softmax over rows": ("g (float[N,4] x) => (float[N,4] y) { [soft] y = Softmax <axis = 0> (x) }", [], "node 'soft' computes across axis 0"),
    "batch norm that trains": ("""g (float[N,4] x, float[4] s, float[4] b, float[4] m, float[4] v) => (float[N,4] y, float[4] p, float[4] q)
                                  { [norm] y, p, q = BatchNormalization <training_mode = 1> (x, s, b, m, v) }""", [], "node 'norm"),
    "a constant among the rows": ("g (float[N,4] x) => (float[M,4] y) <float[1,4] c = {1, 2, 3, 4}> { [join] y = Concat <axis = 0> (x, c) }",
                                  [], "node 'join' joins other elements to axis 0"),
    "a sum over all": ("g (float[N,4] x) => (float[N,4] y) { [total] t = ReduceSum (x) [share] y = Div (x, t) }", [], "node 'total' computes across axis 0"),
    "a loop across rows": (LOOP % "on = Identity (more) [soft] b = Softmax <axis = 0> (a)", [], "node 'soft' computes across axis 0"),
    "a loop that rows end": (LOOP % "[twice] b = Add (a, a) [most] m = ReduceMax <keepdims = 0> (b) on = Less (m, one)", [], "node 'most' computes across axis 0"),
    "each with all": ("g (float[N,4] x) => (float[N,N] y) { t = Transpose <perm = [1, 0]> (x) [all] y = MatMul (x, t) }", [], "node 'all' multiplies each"),
    "a value per row": ("g (float[N,4] x) => (float[N,4] y) { s = Shape (x) [place] i = Gather (s, zero) [count] r = Range (zero, i, one) "
                        "c = Cast <to = 1> (r) [column] u = Unsqueeze (c, last) [sum] y = Add (x, u) zero = Constant <value_int = 0> () "
                        "one = Constant <value_int = 1> () last = Constant <value_ints = [1]> () }", [], "influence each other: in a trial"),
    "a mean over padding": ("g (float[N,S] x) => (float[N] y) { [mean] y = ReduceMean <axes = [1], keepdims = 0> (x) }",
                            ["--buckets", "S=4,16"], "output 'y' differs by"),
    "unknown dim": ("g (float[N,4] x) => (float[N,4] y) { y = Relu (x) }", ["--batch-dim", "B"], "no input has such a symbolic dim; there is 'N'"),
    "fixed dim": ("g (float[N,4] x) => (float[N,4] y) { y = Relu (x) }", ["--dim", "N=4"], "no input has such a symbolic dim"),
    "an axis that is a multiple": ("g (float[N,4] x, float[N] z, float[K] b) => (float[N,4] y) { y = Relu (x) }",
                                   ["--batch-dim", "K", "--buckets", "N=4", "--pad", "b=0"], "no dim of the input has --buckets"),
    "size outside of the range": ("g (float[N,4] x) => (float[N,4] y) { y = Relu (x) }", ["--batch-sizes", "1,16"], "--batch-sizes has 16, but N is 1..8"),
    "edge outside of the range": ("g (float[N,S] x) => (float[N,S] y) { y = Relu (x) }", ["--dim", "S=1..64", "--buckets", "S=32,128"], "but S is 1..64"),
    "batch dim as bucket": ("g (float[N,S] x) => (float[N,S] y) { y = Relu (x) }", ["--buckets", "N=4"], "is the batch dim"),
    "unknown input": ("g (float[N,S] x) => (float[N,S] y) { y = Relu (x) }", ["--buckets", "S=4", "--pad", "z=0"], "the model has no such input"),
    "no number": ("g (int64[N,S] x) => (int64[N,S] y) { y = Abs (x) }", ["--buckets", "S=4", "--pad", "x=0.5"], "is no value of type"),
    "pad and mask": ("g (float[N,S] x) => (float[N,S] y) { y = Relu (x) }", ["--buckets", "S=4", "--pad", "x=0", "--mask", "x"], "has a --pad and is a --mask"),
    "falling sizes": ("g (float[N,4] x) => (float[N,4] y) { y = Relu (x) }", ["--batch-sizes", "4,2"], "not a list of rising numbers"),
    "falling edges": ("g (float[N,S] x) => (float[N,S] y) { y = Relu (x) }", ["--buckets", "S=4,2"], "with rising edges"),
    "a size of 0": ("g (float[N,4] x) => (float[N,4] y) { y = Relu (x) }", ["--batch-sizes", "0,2"], "not a list of rising numbers"),
    "unknown bucket": ("g (float[N,S] x) => (float[N,S] y) { y = Relu (x) }", ["--buckets", "T=4"], "the model has no symbolic dim 'T'"),
    "a pad twice": ("g (float[N,S] x) => (float[N,S] y) { y = Relu (x) }", ["--buckets", "S=4", "--pad", "x=0", "--pad", "x=1"],
                    "--pad names input 'x' twice"),
    "unknown mask": ("g (float[N,S] x) => (float[N,S] y) { y = Relu (x) }", ["--buckets", "S=4", "--mask", "z"], "--mask 'z': the model has no such input"),
    "an answer of another length": ("g (float[N,S] x) => (float[N,T] y) { y = Concat <axis = 1> (x, x) }", ["--buckets", "S=4"],
                                    "padding dim S is not safe"),
}


def compile_batched(model, flags, folder):
    """The finished process, and where the artifact would be."""
    path = model
    if not isinstance(model, Path):
        path = folder / "model.onnx"
        onnx.save(parse(model), path)
    artifact = folder / "model.llmc"
    artifact.unlink(missing_ok=True)
    return run_tool("llmc", path, "-o", artifact, "--report", folder / "report.json", *flags), artifact


def batching_of(artifact):
    return json.loads(run_tool("llmc-plan", artifact, "--json").stdout)["entries"][0]["batching"]


def check_accepted(checks, folder):
    for name, (model, flags, rows, buckets) in ACCEPTED.items():
        done, artifact = compile_batched(model, BATCH + flags, folder)
        checks.check(done.returncode == 0, f"{name}: accepted {done.stderr.strip()}")
        if done.returncode:
            continue
        batching = batching_of(artifact)
        found = [batching["proof"].split(":")[0]] + [bucket["proof"].split(":")[0] for bucket in batching["buckets"]]
        checks.check(found == [rows, *buckets], f"{name}: shown by {found}")
        report = json.loads((folder / "report.json").read_text())["batching"]
        checks.check(report["proof"] == batching["proof"], f"{name}: the report says so, too")


def check_refused(checks, folder):
    for name, (model, flags, message) in REFUSED.items():
        flags = flags if "--batch-dim" in flags else ["--batch-dim", "N"] + flags
        done, artifact = compile_batched(model, (flags if "N=4" in flags and "--dim" in flags else ["--dim", "N=1..8"] + flags), folder)
        left = [file.name for file in folder.iterdir() if file.name.startswith("model.llmc")]
        checks.check(done.returncode in (1, 2) and message in done.stderr and not left, f"{name}: {done.stderr.strip()} {left}")


def cut_and_compare(artifact, batching, checks):
    """Requests of three lengths as one padded batch, each cut back, against each alone."""
    plan = Plan(artifact)
    lengths, edge = (5, 16, 11), 16
    alone = [text_inputs(1, length) for length in lengths]
    padded = {}
    for name, axis in batching["buckets"][0]["inputs"].items():
        value = np.frombuffer(bytes.fromhex(batching["pads"][name]), alone[0][name].dtype)[0]
        padded[name] = np.concatenate([np.pad(one[name], [(0, 0), (0, edge - one[name].shape[axis])], constant_values=value) for one in alone])
    together = plan(padded)
    for i, one in enumerate(alone):
        for name, expected in plan(one).items():
            row = together[name][i:i + 1]
            axis = batching["buckets"][0]["outputs"].get(name)
            row = row if axis is None else np.take(row, range(lengths[i]), axis)
            error = np.abs(row - expected).max() / np.abs(expected).max()
            checks.check(row.shape == expected.shape and error <= 1e-5, f"request of length {lengths[i]}: {name} differs by {error:.1e} of its scale")
    plan.close()


def check_models(checks, folder):
    flags = ["--dim", "N=1..32", "--batch-dim", "N", "--batch-sizes", "1,2,4,8,16,32"]
    done, artifact = compile_batched(provide("minilm_l6"), flags + ["--buckets", "S=16,32,64,128", "--pad", "input_ids=0", "--mask", "attention_mask"],
                                     folder)
    checks.check(done.returncode == 0, f"MiniLM is accepted: {done.stdout.strip()} {done.stderr.strip()}")
    if done.returncode == 0:
        batching = batching_of(artifact)
        checks.check(batching["proof"].startswith("proof: "), f"MiniLM: {batching['proof']}")
        checks.check(batching["buckets"][0]["proof"].startswith("trial: "), f"MiniLM: {batching['buckets'][0]['proof']}")
        cut_and_compare(artifact, batching, checks)
    recognition = onnx.load(provide("ppocr_rec"), load_external_data=False).graph.input[0].type.tensor_type.shape.dim
    batch, width = recognition[0].dim_param, recognition[3].dim_param
    done, artifact = compile_batched(provide("ppocr_rec"), ["--dim", f"{batch}=1..8", "--batch-dim", batch, "--buckets", f"{width}=160,320"], folder)
    checks.check(done.returncode == 1 and "is not safe" in done.stderr and "differs by" in done.stderr, f"PP-OCR's width is refused: {done.stderr.strip()}")
    done, artifact = compile_batched(provide("ppocr_rec"), ["--dim", f"{batch}=1..8", "--dim", "x_dim2=48", "--batch-dim", batch], folder)
    checks.check(done.returncode == 0 and f"proof: no operator computes across {batch}" in done.stdout,
                 f"PP-OCR is accepted by exact width: {done.stdout.strip()} {done.stderr.strip()}")
    # Dims without a name get one.
    for name, flags in (("mobilenet_v2", []), ("silero_vad", ["--shape", "input=Nx?", "--shape", "state=2xNx128"])):
        done, artifact = compile_batched(provide(name), ["--dim", "N=1..16", "--batch-dim", "N", *flags], folder)
        checks.check(done.returncode == 0 and "proof: no operator computes across N" in done.stdout, f"{name}: {done.stdout.strip()} {done.stderr.strip()}")


ON_SIM = ["--device", "cpu=cpu", "--device", "sim=sim:0"]

# Name: model, the integer input and the value that spoils a row, what the row's error says, flags if there are.
FAULTS = {
    "on a device": ("g (float[N,4] x, int64[N,3] i) => (float[N,3] y) { [own] e = GatherElements <axis = 1> (x, i) [act] y = Relu (e) }", "i", 9,
                    "of node 'own': index out of range", ON_SIM + ["--pin", "sim=^own$"]),
    "in a loop": (LOOP % f"on = Identity (more) {PICK}", "i", 9, "of node 'own': index out of range"),
    "in a scan": (SCAN, "i", 9, "of node 'own': index out of range"),
    "in a branch": (BRANCH, "i", 9, "of node 'own': index out of range"),
    "embedding": ("g (int64[N,6] ids) => (float[N,6,5] y) <float[4,5] table = {%s}> { [embed] e = Gather (table, ids) [act] y = Relu (e) }"
                  % ", ".join(str(i - 7) for i in range(20)), "ids", 4, "of node 'embed': index out of range"),
    "wide embedding": ("g (int32[N] ids) => (float[N,40] y) <float[4,40] table = {%s}> { [embed] y = Gather (table, ids) }"
                       % ", ".join(map(str, range(160))), "ids", -5, "of node 'embed': index out of range"),
    "own elements": ("g (float[N,4] x, int64[N,3] i) => (float[N,3] y) { [own] y = GatherElements <axis = 1> (x, i) }", "i", 9,
                     "of node 'own': index out of range"),
    "tuples": ("g (float[N,4,2] x, int64[N,3,1] i) => (float[N,3,2] y) { [tuples] y = GatherND <batch_dims = 1> (x, i) }", "i", -9,
               "of node 'tuples': index out of range"),
    "places": ("g (float[N,4] x, int64[N,1] i, float[N,1] u) => (float[N,4] y) { [put] y = ScatterElements <axis = 1> (x, i, u) }", "i", 4,
               "of node 'put': index out of range"),
    "division": ("g (int64[N,4] x, int64[N,4] d) => (int64[N,4] y) { [share] y = Div (x, d) }", "d", 0, "of node 'share': integer division by zero"),
    "twice": ("g (int64[N,2] ids) => (float[N,2,3] y) <int64[4] next = {0, 1, 2, 3}, float[4,3] table = {%s}> "
              "{ [first] a = Gather (next, ids) [second] y = Gather (table, a) }" % ", ".join(map(str, range(12))), "ids", 77,
              "of node 'first': index out of range"),
}


def check_row_faults(checks, folder):
    for name, (model, given, value, message, *flags) in FAULTS.items():
        done, artifact = compile_batched(model, BATCH + (flags[0] if flags else []), folder)
        checks.check(done.returncode == 0, f"{name}: accepted {done.stderr.strip()}")
        found = subprocess.run([BIN.parent / "test/row-faults", artifact, given, str(value)], capture_output=True, text=True)
        good = found.returncode == 0 and all(message in line for line in found.stdout.splitlines())
        checks.check(good, f"{name}: one row fails alone: {found.stdout.strip()} {found.stderr.strip()}")


def segments_of(artifact):
    """The bytes behind the plan: constants and code."""
    data = artifact.read_bytes()
    return data[int.from_bytes(data[24:32], "little"):]


def check_costs(checks, folder):
    model, flags = ACCEPTED["a mask"][:2]
    done, artifact = compile_batched(model, BATCH + flags + ["--batch-sizes", "1,2,8"], folder)
    checks.check("costs" in batching_of(artifact) and not batching_of(artifact)["costs"], "an artifact has no costs at first")
    done = run_tool("llmc-batch-sim", "--artifact", artifact)
    checks.check(done.returncode == 1 and "has no costs" in done.stderr, f"the simulator says so: {done.stderr.strip()}")
    before, mode = artifact.read_bytes(), artifact.stat().st_mode
    bench = ["llmc-bench", artifact, "--save-costs", "--min-time", "0.01", "--threads", "1"]
    done = run_tool(*bench)
    checks.check(done.returncode == 0 and len(done.stdout.splitlines()) == 6, f"costs are measured: {done.stdout.strip()} {done.stderr.strip()}")
    batching, plain = batching_of(artifact), json.loads(run_tool("llmc-plan", artifact, "--json").stdout)
    checks.check(len(batching["costs"]) == 6 and min(batching["costs"]) > 0 and batching["cost_threads"] == 1 and batching["cost_level"],
                 f"costs are kept: {batching['costs']}, {batching['cost_level']}")
    artifact.with_suffix(".before").write_bytes(before)
    same = json.loads(run_tool("llmc-plan", artifact.with_suffix(".before"), "--json").stdout)
    for plan in (plain, same):
        plan.pop("plan_bytes"), plan.pop("file_bytes"), plan["entries"][0].pop("batching")
    checks.check(plain == same and segments_of(artifact) == segments_of(artifact.with_suffix(".before")), "all else is as it was")
    checks.check(run_tool("llmc-plan", artifact, "--check").returncode == 0 and artifact.stat().st_mode == mode, "the file is sound, with its mode")
    first = artifact.read_bytes()
    checks.check(run_tool(*bench).returncode == 0 and len(artifact.read_bytes()) == len(first), "costs are measured again")
    checks.check(not [file for file in folder.iterdir() if file.name.startswith("model.llmc.")], "no temporary file is left")
    load = ["--rate", "100", "--requests", "2000"]
    for bucket, good in (([], True), (["--bucket", "S=4"], True), (["--bucket", "S=5"], False), (["--bucket", "T=4"], False)):
        done = run_tool("llmc-batch-sim", "--artifact", artifact, *load, *bucket)
        checks.check((done.returncode == 0) == good, f"the simulator takes {bucket or 'the last bucket'}: {done.stdout.splitlines()[:1]} {done.stderr.strip()}")
    onnx.save(parse(model), folder / "model.onnx")
    run_tool("llmc", folder / "model.onnx", "-o", folder / "plain.llmc")
    done = run_tool("llmc-bench", folder / "plain.llmc", "--save-costs")
    checks.check(done.returncode == 1 and "compile it with --batch-dim" in done.stderr, f"an artifact without batches is refused: {done.stderr.strip()}")


def check_packed_costs(checks, folder):
    """A size of a packed batch is that of one request."""
    onnx.save(parse("g (float[T,4] x, int64[N] counts) => (float[N] y, float[T,4] z) { y = Cast <to = 1> (counts)  z = Neg (x) }"), folder / "packed.onnx")
    artifact = folder / "packed.llmc"
    done = run_tool("llmc", folder / "packed.onnx", "-o", artifact, "--batch-dim", "T", "--dim", "T=1..100", "--dim", "N=1..8", "--generate", "counts=count",
                    "--batch-sizes", "1,10,100")
    checks.check(done.returncode == 0 and "batches of requests packed along T, up to 100 places; trial: 8 packed requests" in done.stdout,
                 f"packed requests: {done.stdout.strip()} {done.stderr.strip()}")
    batching = batching_of(artifact)
    checks.check(batching["generated"] == {"counts": "COUNT"} and batching["request_outputs"] == {"y": 0}, f"the artifact says how: {batching}")
    done = run_tool("llmc-bench", artifact, "--save-costs", "--min-time", "0.01", "--threads", "1")
    checks.check(done.returncode == 0 and len(batching_of(artifact)["costs"]) == 3, f"their costs are measured: {done.stdout.strip()} {done.stderr.strip()}")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        check_accepted(checks, Path(folder))
        check_refused(checks, Path(folder))
        check_costs(checks, Path(folder))
        check_packed_costs(checks, Path(folder))
        check_row_faults(checks, Path(folder))
        check_models(checks, Path(folder))
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
