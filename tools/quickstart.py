#!/usr/bin/env python3
"""Compiles EfficientNet-Lite0, asks it what is in a photograph, and puts ONNX Runtime's answer and time beside it.

Called by quickstart.sh, which prepares what this needs.
"""
import argparse
import json
import shlex
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnxruntime

sys.path.insert(0, str(Path(__file__).parent / "models"))
from imagenet import class_names, load_picture, top_classes  # noqa: E402


def show(command):
    print("  $", shlex.join(map(str, command)), flush=True)
    return command


def run_llmc(tools, model, picture, folder, threads):
    """Compiles the model, runs it on picture.npy and times it. Returns (logits, median milliseconds)."""
    artifact, given = folder / f"{model.stem}.llmc", f"image={picture}"
    subprocess.run(show([tools / "llmc", model, "-o", artifact]), check=True)
    subprocess.run(show([tools / "llmc-run", artifact, "--input", given, "--output-dir", folder, "--threads", threads]),
                   check=True)
    bench = show([tools / "llmc-bench", artifact, "--input", given, "--threads", threads, "--json"])
    report = json.loads(subprocess.run(bench, check=True, capture_output=True, text=True).stdout)
    return np.load(folder / "logits.npy"), report["median_ms"]


def run_onnxruntime(model, picture, threads, seconds=2):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = int(threads), 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    feeds = {"image": np.load(picture)}
    logits, times, end = session.run(None, feeds)[0], [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        session.run(None, feeds)
        times.append(time.perf_counter() - start)
    return logits, 1e3 * float(np.median(times))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tools", type=Path, required=True, help="folder of llmc, llmc-run and llmc-bench")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--photo", type=Path, required=True)
    parser.add_argument("--names", type=Path, required=True, help="class names, as JSON")
    parser.add_argument("--work", type=Path, required=True, help="folder for the artifact, the input and the output")
    parser.add_argument("--threads", default="1")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    picture = options.work / "picture.npy"
    np.save(picture, load_picture(options.photo))
    print(f"\n{options.photo.name}, centre square (87.5 %) resized to 224 x 224 (bicubic), {options.threads} thread(s)")

    ours, our_ms = run_llmc(options.tools, options.model, picture, options.work, options.threads)
    theirs, their_ms = run_onnxruntime(options.model, picture, options.threads)
    names = class_names(options.names)
    print(f"\n{'':14}{'time per run':>14}   what is in the picture")
    for who, logits, ms in (("llmc", ours, our_ms), ("ONNX Runtime", theirs, their_ms)):
        answer = ", ".join(f"{names[index]} {probability:.1%}" for index, probability in top_classes(logits))
        print(f"{who:<14}{ms:11.2f} ms   {answer}")
    error = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
    print(f"largest difference of the logits: {error:.1e} of their scale")
    if not error <= 1e-4:
        sys.exit("error: the answers differ by more than 1e-4 of their scale")


if __name__ == "__main__":
    main()
