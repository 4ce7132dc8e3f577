#!/usr/bin/env python3
"""Times llmc against ONNX Runtime on the cases of cases.json, paired and interleaved.

    compare.py [MODEL ...] [--threads 1,2] [--rounds 10] [--seconds 0.5] [--json OUT]

Each case compiles the model once with default options. Then the engines take turns in this process, A B B A ..., for --rounds
rounds of --seconds each, on the same input and thread count: what else the machine does meanwhile hits both. ONNX Runtime runs with
all its optimisations. The first runs of a turn are not counted: they fill the caches and let the other's threads go to sleep.
Reported: the median over rounds of each engine's median, in ms, and ONNX Runtime's divided by llmc's (above 1: llmc is faster).
The answers are compared too: a fast wrong answer is no answer. LLMC_BIN: folder of llmc, default build/release/bin.
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "test/e2e"))
from runtime import BIN, Plan, RunError  # noqa: E402


def make_inputs(model_path, case):
    """case: input name, or "*" for the others -> {shape, low, high, fill, arange}."""
    model = onnx.load(model_path, load_external_data=False)
    weights, rng, inputs = {tensor.name for tensor in model.graph.initializer}, np.random.default_rng(0), {}
    for value in [v for v in model.graph.input if v.name not in weights]:
        tensor, spec = value.type.tensor_type, case.get(value.name, case.get("*", {}))
        shape = spec["shape"] if "shape" in spec else [max(1, d.dim_value) for d in tensor.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        if "fill" in spec:
            array = np.full(shape, spec["fill"])
        elif "arange" in spec:
            array = np.broadcast_to(np.arange(shape[-1]) + spec["arange"], shape)
        elif dtype == np.bool_ or np.issubdtype(dtype, np.integer):
            array = rng.integers(spec.get("low", 0), spec.get("high", 2), size=shape)
        else:
            array = rng.standard_normal(shape)
        inputs[value.name] = np.ascontiguousarray(array, dtype=dtype).reshape(shape)
    return inputs


class OnnxRuntime:
    def __init__(self, model_path, inputs, threads):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(model_path, options, providers=["CPUExecutionProvider"])
        self.inputs = inputs

    def run(self):
        self.results = self.session.run(None, self.inputs)

    def outputs(self):
        return {output.name: value for output, value in zip(self.session.get_outputs(), self.results)}


def llmc_engine(artifact, inputs, threads):
    engine = Plan(artifact, threads)
    engine.set_inputs(inputs)
    return engine


def median_ms(engine, seconds):
    """Of one turn: a fifth of the time to warm up, then single runs."""
    begin, times = time.perf_counter(), []
    while True:
        start = time.perf_counter()
        engine.run()
        end = time.perf_counter()
        if start - begin > seconds / 5 or times:
            times.append(end - start)
        if end - begin > seconds and len(times) >= 3:
            return 1e3 * statistics.median(times)


def largest_error(expected, actual):
    """The largest difference over all outputs, each relative to its greatest magnitude."""
    return max(float(np.abs(value.astype(np.float64) - actual[name]).max(initial=0) / max(np.abs(value).max(initial=0), 1e-30))
               for name, value in expected.items())


def compare(engines, rounds, seconds):
    times, order = {name: [] for name in engines}, list(engines)
    for _ in range(rounds):
        for name in order:
            times[name].append(median_ms(engines[name], seconds))
        order.reverse()
    return {name: statistics.median(values) for name, values in times.items()}


def run_case(options, model, path, artifact, case, threads):
    inputs = make_inputs(path, case)
    engines = {"llmc": llmc_engine(artifact, inputs, threads), "ort": OnnxRuntime(path, inputs, threads)}
    for engine in engines.values():
        engine.run()
    error = largest_error(engines["ort"].outputs(), engines["llmc"].outputs())
    medians = compare(engines, options.rounds, options.seconds)
    return dict(model=model, threads=threads, llmc_ms=medians["llmc"], ort_ms=medians["ort"],
                ratio=medians["ort"] / medians["llmc"], error=error)


def run_model(options, model, cases):
    """Yields (case, threads, row or message)."""
    get = [sys.executable, ROOT / "tools/models/get.py", model]
    path = subprocess.run(get, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        artifact = Path(folder) / f"{model}.llmc"
        done = subprocess.run([BIN / "llmc", path, "-o", artifact], capture_output=True, text=True)
        if done.returncode:
            yield "", "", "does not compile: " + (done.stderr.strip() or "no message").splitlines()[-1]
            return
        for case, spec in cases.items():
            for threads in map(int, options.threads.split(",")):
                try:
                    yield case, threads, run_case(options, model, path, artifact, spec, threads)
                except RunError as error:
                    yield case, threads, str(error)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="default: all of cases.json")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    cases, rows, failures = json.loads((HERE / "cases.json").read_text()), [], 0
    unknown = set(options.models) - set(cases)
    if unknown:
        parser.error(f"no case for {', '.join(sorted(unknown))}; known: {', '.join(cases)}")
    print(f"{'model':<16}{'case':<12}{'threads':>7}{'llmc ms':>11}{'ort ms':>11}{'ort/llmc':>10}{'error':>10}")
    for model in options.models or cases:
        for case, threads, row in run_model(options, model, cases[model]):
            head = f"{model:<16}{case:<12}{threads:>7}"
            if isinstance(row, str):
                failures += 1
                print(f"{head}  {row}", flush=True)
                continue
            rows.append({**row, "case": case})
            print(f"{head}{row['llmc_ms']:>11.3f}{row['ort_ms']:>11.3f}{row['ratio']:>10.2f}{row['error']:>10.1e}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
