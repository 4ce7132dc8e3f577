#!/usr/bin/env python3
"""Times llmc against ONNX Runtime on the cases of cases.json, paired and interleaved.

    compare.py [MODEL ...] [--threads 1,2] [--rounds 6] [--seconds 1] [--tools build/release/bin] [--json OUT]

Each case compiles the model once with default options. Then the engines take turns, A B B A ..., for --rounds rounds of
--seconds each, on the same input and thread count: what else the machine does meanwhile hits both. llmc runs in llmc-bench, ONNX
Runtime in this process with all its optimisations. Reported: the median over rounds of each engine's median, in ms, and ONNX
Runtime's divided by llmc's (above 1: llmc is faster). The answers are compared too: a fast wrong answer is no answer.
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

    def outputs(self):
        return {o.name: v for o, v in zip(self.session.get_outputs(), self.session.run(None, self.inputs))}

    def median_ms(self, seconds):
        for _ in range(2):
            self.session.run(None, self.inputs)
        times, end = [], time.perf_counter() + seconds
        while time.perf_counter() < end or len(times) < 5:
            start = time.perf_counter()
            self.session.run(None, self.inputs)
            times.append(time.perf_counter() - start)
        return 1e3 * statistics.median(times)


class Llmc:
    def __init__(self, tools, artifact, inputs, threads, folder):
        self.tools, self.artifact, self.folder = tools, artifact, folder
        self.options = ["--threads", str(threads)]
        for number, (name, array) in enumerate(inputs.items()):
            file = folder / f"input_{number}.npy"
            np.save(file, array)
            self.options += ["--input", f"{name}={file}"]

    def outputs(self):
        target = self.folder / "outputs"
        target.mkdir(exist_ok=True)
        subprocess.run([self.tools / "llmc-run", self.artifact, *self.options, "--output-dir", target], check=True,
                       capture_output=True)
        return {file.stem: np.load(file) for file in target.glob("*.npy")}

    def median_ms(self, seconds):
        done = subprocess.run([self.tools / "llmc-bench", self.artifact, *self.options, "--min-time", str(seconds),
                               "--json"], check=True, capture_output=True, text=True)
        return json.loads(done.stdout)["median_ms"]


def npy_name(name):
    """The file stem that llmc-run gives an output."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in name)


def largest_error(expected, actual):
    """The largest difference over all outputs, each relative to its greatest magnitude."""
    return max(float(np.abs(value.astype(np.float64) - actual[npy_name(name)]).max(initial=0) /
                     max(np.abs(value).max(initial=0), 1e-30)) for name, value in expected.items())


def compare(engines, rounds, seconds):
    times, order = {name: [] for name in engines}, list(engines)
    for _ in range(rounds):
        for name in order:
            times[name].append(engines[name].median_ms(seconds))
        order.reverse()
    return {name: statistics.median(values) for name, values in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="default: all of cases.json")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--tools", type=Path, default=ROOT / "build/release/bin")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    cases, rows, failures = json.loads((HERE / "cases.json").read_text()), [], 0
    unknown = set(options.models) - set(cases)
    if unknown:
        parser.error(f"no case for {', '.join(sorted(unknown))}; known: {', '.join(cases)}")
    print(f"{'model':<16}{'case':<12}{'threads':>7}{'llmc ms':>11}{'ort ms':>11}{'ort/llmc':>10}{'error':>10}")
    for model in options.models or cases:
        path = subprocess.run([sys.executable, ROOT / "tools/models/get.py", model], check=True, stdout=subprocess.PIPE,
                              text=True).stdout.strip()
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            artifact = folder / f"{model}.llmc"
            done = subprocess.run([options.tools / "llmc", path, "-o", artifact], capture_output=True, text=True)
            if done.returncode:
                failures += 1
                print(f"{model:<16}does not compile: {(done.stderr.strip() or 'no message').splitlines()[-1]}", flush=True)
                continue
            for case, spec in cases[model].items():
                inputs = make_inputs(path, spec)
                for threads in map(int, options.threads.split(",")):
                    engines = {"llmc": Llmc(options.tools, artifact, inputs, threads, folder),
                               "ort": OnnxRuntime(path, inputs, threads)}
                    try:
                        error = largest_error(engines["ort"].outputs(), engines["llmc"].outputs())
                        medians = compare(engines, options.rounds, options.seconds)
                    except subprocess.CalledProcessError as failure:
                        failures += 1
                        print(f"{model:<16}{case:<12}{threads:>7}  {failure.stderr.strip()[-200:]}", flush=True)
                        continue
                    row = dict(model=model, case=case, threads=threads, llmc_ms=medians["llmc"], ort_ms=medians["ort"],
                               ratio=medians["ort"] / medians["llmc"], error=error)
                    rows.append(row)
                    print(f"{model:<16}{case:<12}{threads:>7}{row['llmc_ms']:>11.3f}{row['ort_ms']:>11.3f}"
                          f"{row['ratio']:>10.2f}{error:>10.1e}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
