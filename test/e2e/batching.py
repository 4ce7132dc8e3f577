#!/usr/bin/env python3
"""Real models behind the batcher: 64 callers, each of whom knows its answers; every answer is that of a run alone, to the bit.

  batching.py [--requests N] [--only NAME]    in all; 2000 by default

Needs LLMC_BIN, or build/release/bin, and the test programs beside it.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import onnx

from checks import BIN, Checks, ROOT, run_tool
from small_models import parse

sys.path.insert(0, str(ROOT / "tools/models"))
from get import provide  # noqa: E402

CALLERS = 64


def cases():
    """Name, share of the requests, flags of llmc, dim of the rows, most rows of a request, and what to draw."""
    sizes = ["--batch-sizes", "1,2,4,8,16,32"]
    yield ("minilm_l6", 0.3, ["--dim", "N=1..32", "--batch-dim", "N", *sizes, "--buckets", "S=16,32", "--pad", "input_ids=0",
                              "--mask", "attention_mask"],
           "N", 2, ["S=5,16,23,32", "input_ids=1..29000", "attention_mask=1..1", "token_type_ids=0..0"])
    yield "mobilenet_v2", 0.1, ["--dim", "N=1..8", "--batch-dim", "N", "--batch-sizes", "1,2,4,8"], "N", 1, []
    yield ("silero_vad", 0.55, ["--dim", "N=1..32", "--batch-dim", "N", "--shape", "input=Nx512", "--shape", "state=2xNx128"],
           "N", 2, ["sr=16000..16000"])
    yield "ppocr_rec", 0.05, ["--shape", "x=Nx3x48xW", "--dim", "N=1..8", "--batch-dim", "N"], "N", 1, ["W=64,96,128"]


def check_model(checks, folder, requests, name, share, flags, rows, most, draws):
    artifact = folder / f"{name}.llmc"
    done = run_tool("llmc", provide(name), "-o", artifact, *flags)
    checks.check(done.returncode == 0, f"{name} compiles {done.stderr.strip()}")
    if done.returncode:
        return
    count = int(requests * share)
    done = subprocess.run([BIN.parent / "test/batch-callers", artifact, rows, str(CALLERS), str(count), str(most), *draws],
                          capture_output=True, text=True)
    checks.check(done.returncode == 0, f"{name}: {done.stdout.strip()} {done.stderr.strip()}")
    runs = re.search(r"(\d+) runs, (\d+) rows", done.stdout)
    # Several requests share a run, however slow the callers are: those that wait for one run are in the next.
    checks.check(runs and int(runs[1]) * 2 < count, f"{name}: {count} requests in {runs and runs[1]} runs")


def check_rows_that_fail(checks, folder):
    """An id that is not in the table fails its request alone, within one run."""
    onnx.save(parse("g (int64[N,3] ids) => (float[N,3,2] y) <float[4,2] table = {1, 2, 3, 4, 5, 6, 7, 8}> { [embed] y = Gather (table, ids) }"),
              folder / "embed.onnx")
    refuse(checks, folder, "embed", "N", "--dim", "N=1..8")
    onnx.save(parse("g (int64[T,3] ids, int64[N] counts) => (float[T,3,2] y, int64[N] n) <float[4,2] table = {1, 2, 3, 4, 5, 6, 7, 8}> "
                    "{ [embed] y = Gather (table, ids)  n = Identity (counts) }"), folder / "packed.onnx")
    refuse(checks, folder, "packed", "T", "--dim", "T=1..8", "--dim", "N=1..8", "--generate", "counts=count")


def refuse(checks, folder, name, dim, *flags):
    compiled = run_tool("llmc", folder / f"{name}.onnx", "-o", folder / f"{name}.llmc", "--batch-dim", dim, *flags)
    done = subprocess.run([BIN.parent / "test/batch-callers", folder / f"{name}.llmc", dim, "8", "500", "1", "ids=0..3", "ids!99"],
                          capture_output=True, text=True)
    checks.check(compiled.returncode == 0 and done.returncode == 0 and "embed" in done.stdout,
                 f"a row that is refused, {name}: {compiled.stderr} {done.stdout.strip()} {done.stderr.strip()}")


BAG = """g (float[T,4] values, int64[M] offsets) => (float[K,4] sums, float[T,4] squares)
    <int64 zero = {0}, int64 one = {1}, int64[1] begin = {0}, int64[1] second = {1}, int64[1] last = {-1}, int64[1] end = {1000000}> {
    shape = Shape <start = 0, end = 1> (values)  count = Squeeze (shape)  places = Range (zero, count, one)
    starts = Slice (offsets, begin, last)  ends = Slice (offsets, second, end)
    from = Unsqueeze (starts, second)  to = Unsqueeze (ends, second)
    after = GreaterOrEqual (places, from)  before = Less (places, to)  inside = And (after, before)  mask = Cast <to = 1> (inside)
    sums = MatMul (mask, values)  squares = Mul (values, values) }"""


def check_packed(checks, folder):
    """Requests of 1 to 40 places, one after the other."""
    onnx.save(parse(BAG), folder / "bag.onnx")
    run_tool("llmc", folder / "bag.onnx", "-o", folder / "bag.llmc", "--batch-dim", "T", "--dim", "T=1..512", "--dim", "M=2..33", "--generate",
             "offsets=accumulated-zero")
    done = subprocess.run([BIN.parent / "test/batch-callers", folder / "bag.llmc", "T", str(CALLERS), "2000", "40"], capture_output=True, text=True)
    checks.check(done.returncode == 0, f"packed: {done.stdout.strip()} {done.stderr.strip()}")
    runs = re.search(r"(\d+) runs, (\d+) rows, (\d+) with padding", done.stdout)
    checks.check(runs and int(runs[1]) * 2 < 2000 and runs[2] == runs[3], f"packed: 2000 requests in {runs and runs[1]} runs, nothing padded")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--only", default="", help="only models whose name has this in it")
    arguments = parser.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        check_rows_that_fail(checks, Path(folder))
        check_packed(checks, Path(folder))
        for case in cases():
            if arguments.only in case[0]:
                check_model(checks, Path(folder), arguments.requests, *case)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
