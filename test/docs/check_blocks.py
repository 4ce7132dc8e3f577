#!/usr/bin/env python3
"""check_blocks.py PAGE.md MODEL.onnxtxt [--update]: what the page shows is what happens.

Runs the commands of the page's ```console blocks, lines that start with "$ ", one after the other in a fresh folder that holds the
model, as text and as .onnx, and compares what they print, stdout and stderr together, with the lines that follow. "..." stands for
any text within a line, and alone on a line for any lines. --update writes what does not match into the page.
"""
import argparse
import difflib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import onnx.parser

BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.M | re.S)


def matches(shown, actual):
    parts = [r"(?:.*\n)*?" if line == "...\n" else ".*?".join(map(re.escape, line.split("..."))) for line in shown.splitlines(True)]
    return re.fullmatch("".join(parts), actual) is not None


def run(command, folder):
    done = subprocess.run(["bash", "-c", command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode < 0:
        sys.exit(f"$ {command}\nkilled by signal {-done.returncode}")
    return done.stdout


def steps(block):
    """(command, output shown) of a block."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("page", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    differences = []
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(options.model, folder)
        onnx.save(onnx.parser.parse_model(options.model.read_text()), Path(folder) / f"{options.model.stem}.onnx")

        def check(block):
            text = ""
            for command, shown in steps(block[0]):
                actual = run(command, folder)
                if not matches(shown, actual):
                    differences.append("".join(difflib.unified_diff(shown.splitlines(True), actual.splitlines(True), "page", f"$ {command}")))
                    shown = actual
                text += f"$ {command}\n{shown}"
            return text

        page, blocks = BLOCK.subn(check, options.page.read_text())
    if blocks == 0:
        sys.exit(f"{options.page} has no console block")
    if options.update:
        options.page.write_text(page)
    elif differences:
        sys.exit("\n".join([f"{options.page} does not show what happens; test/docs/check_blocks.py --update rewrites it", *differences]))
    print(f"{options.page.name}: {blocks} blocks checked")


main()
