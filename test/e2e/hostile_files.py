#!/usr/bin/env python3
"""Damaged models and artifacts: read or refused with a reason, never a fault. libFuzzer mutates small good ones; the debug build watches.

    hostile_files.py [--runs N] [--seconds S] [--seed N] [--only import|plan]
        --runs     inputs for each target (default 10,000), or, with --seconds, as many as there is time for
        --seed     default: 1
    What was found stays in build/fuzz; build/debug/test/fuzz-TARGET FILE tries one again. LLMC_DEBUG_BIN: the folder of another debug build.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import onnx

from checks import Checks, ROOT
from small_models import add_model, convnet, parse

DEBUG = Path(os.environ.get("LLMC_DEBUG_BIN", ROOT / "build/debug/bin")).parent
NODE_TESTS = Path(onnx.__file__).parent / "backend/test/data/node"
FOUND = ROOT / "build/fuzz"

# Functions, captures, a loop, an If: what node tests have little of.
NESTED = """<ir_version: 8, opset_import: ["" : 17, "own" : 1]> g (float[N] x, int64 n) => (float[N] y, float[T,N] all) <bool yes = {1}> {
  a = own.twice (x)
  y, all = Loop (n, yes, a) <body = b (int64 i, bool c, float[N] v) => (bool c2, float[N] w, float[N] s) {
    c2 = Identity (c)
    w = If (c) <then_branch = t () => (float[N] p) { p = Add (v, x) }, else_branch = e () => (float[N] q) { q = Sub (v, a) }>
    s = Identity (w) }>
}
<domain: "own", opset_import: ["" : 17]> twice (u) => (v) { v = Add (u, u) }"""


def model_seeds(folder):
    """All node tests that are small, and models of several nodes."""
    for model in NODE_TESTS.glob("*/model.onnx"):
        if model.stat().st_size < 4096:
            (folder / model.parent.name).write_bytes(model.read_bytes())
    for name, model in (("add", add_model()), ("net", convnet()[0]), ("open-net", convnet(weights_are_inputs=True)[0]), ("nested", parse(NESTED))):
        (folder / name).write_bytes(model.SerializeToString())


def plan_seeds(folder):
    """The plans of the runtime's tests and the golden artifact."""
    for name in ("add-relu", "compress", "two-devices", "everything"):
        subprocess.run([DEBUG / "test/write-test-plan", name, folder / name], check=True)
    (folder / "golden").write_bytes((ROOT / "test/golden/v1.0.llmc").read_bytes())


TARGETS = {"import": (model_seeds, ["-max_len=16384"]), "plan": (plan_seeds, ["-cross_over=0", "-max_len=300000"])}


def fuzz(target, seed, arguments, checks):
    program, (write_seeds, flags) = DEBUG / f"test/fuzz-{target}", TARGETS[target]
    if not program.exists():
        return checks.skip(f"damaged files for {target}", f"no {program}")
    FOUND.mkdir(parents=True, exist_ok=True)
    limit = [f"-max_total_time={arguments.seconds}"] if arguments.seconds else [f"-runs={arguments.runs}"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_seeds(folder)
        seeds = len(list(folder.iterdir()))
        done = subprocess.run([program, *flags, *limit, f"-seed={seed}", "-timeout=60", "-rss_limit_mb=4096", "-malloc_limit_mb=1000000",
                               "-detect_leaks=0", "-print_final_stats=1", "-verbosity=1", f"-artifact_prefix={FOUND}/{target}-", folder],
                              capture_output=True, text=True, errors="replace", env=os.environ | {"UBSAN_OPTIONS": "print_stacktrace=1"})
    runs, covered = re.search(r"number_of_executed_units: (\d+)", done.stderr), re.findall(r"cov: (\d+)", done.stderr)
    told = f"{runs[1] if runs else 'no'} inputs from {seeds} seeds, {covered[-1] if covered else 'no'} branches reached"
    checks.check(done.returncode == 0 and runs, f"{target}, seed {seed}: {told}" + ("" if done.returncode == 0 else f"\n{done.stderr[-4000:]}"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=10000)
    parser.add_argument("--seconds", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=TARGETS)
    arguments = parser.parse_args()
    checks = Checks()
    for target in [arguments.only] if arguments.only else TARGETS:
        fuzz(target, arguments.seed, arguments, checks)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
