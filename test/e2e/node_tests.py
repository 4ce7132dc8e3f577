#!/usr/bin/env python3
"""All ONNX node tests, compiled and run: as given, with all dims symbolic, with all inputs constant. See test/e2e/node_tests/main.cpp."""
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# What passes today, of 1,765 (ten of them are random). A commit may raise these, none may lower them.
FLOORS = {"static": 1573, "symbolic": 1503, "constant": 1576}


def run_mode(folder, mode):
    command = [ROOT / "build/release/test/node-tests", folder, mode, *sys.argv[1:]]
    # Thousands of small artifacts are written and read once: in memory where there is such a folder.
    environment = dict(os.environ, TMPDIR="/dev/shm") if os.access("/dev/shm", os.W_OK) else None
    text = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment).stdout
    print(f"{mode}:\n{text}", end="")
    counts = re.search(r"(\d+) passed, (\d+) failed, (\d+) skipped$", text)
    if not counts:
        print(f"FAILED {mode}: no result")
        return [0, 1, 0]
    passed, failed, skipped = map(int, counts.groups())
    if passed < FLOORS[mode] and not sys.argv[1:]:
        print(f"FAILED {mode}: {passed} pass, at least {FLOORS[mode]} did before")
        failed += 1
    return [passed, failed, skipped]


def main():
    get = [sys.executable, ROOT / "tools/models/get.py", "node_tests"]
    folder = subprocess.run(get, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    sums = [sum(column) for column in zip(*[run_mode(folder, mode) for mode in FLOORS])]
    print("{} passed, {} failed, {} skipped".format(*sums))
    return sums[1] != 0


if __name__ == "__main__":
    sys.exit(main())
