#!/usr/bin/env python3
"""The Python package: built by pip as a user would, installed into a fresh environment, tested there.

    python_package.py [NAME ...]    NAME: of the tests test/python/test_NAME.py; all by default

The wheel is built with the pinned packages of .venv, without network. The fresh environment has the wheel alone; the tests that need
numpy, ml_dtypes and onnx see those of .venv beside it.
"""
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import onnx

from checks import BIN, ROOT, Checks, run_tool

TESTS = ROOT / "test/python"
sys.path.insert(0, str(TESTS))


def run(checks, what, *command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=1200, cwd=ROOT,
                          env=os.environ | {"LLMC_BIN": str(BIN)} | environment)
    if done.returncode:
        print(done.stdout[-8000:] + done.stderr[-8000:])
    checks.check(done.returncode == 0, what)
    return done


def build_wheel(checks, folder):
    launcher = {f"CMAKE_{language}_COMPILER_LAUNCHER": "ccache" for language in ("C", "CXX")} if shutil.which("ccache") else {}
    run(checks, "pip builds the wheel", sys.executable, "-m", "pip", "wheel", ROOT, "-q", "--no-deps", "--no-build-isolation",
        "--disable-pip-version-check", "-w", folder, **launcher)
    return next(Path(folder).glob("llmc-*.whl"))


def make_environment(checks, folder, wheel):
    """A fresh environment with the wheel alone. Returns its Python."""
    python = Path(folder) / "bin/python"
    run(checks, "a fresh environment", sys.executable, "-m", "venv", "--without-pip", folder)
    run(checks, "pip installs the wheel", sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index",
        "--disable-pip-version-check", wheel)
    return python


def check_wheel(checks, wheel):
    names = subprocess.run([sys.executable, "-m", "zipfile", "-l", wheel], capture_output=True, text=True).stdout
    for name in ("llmc/__init__.py", "llmc/py.typed", "llmc/_llmc.pyi", "LICENSE"):
        checks.check(name in names, f"the wheel has {name}")
    checks.check("libLLVM" not in names and wheel.stat().st_size < 2 << 20, "the wheel holds the runtime alone, in less than 2 MiB")


def run_tests(checks, python, name, packages):
    done = subprocess.run([python, TESTS / "run.py", name], capture_output=True, text=True, errors="replace", timeout=1800,
                          env=os.environ | {"LLMC_BIN": str(BIN), "PYTHONPATH": packages})
    print(done.stdout + done.stderr, end="")
    counts = re.search(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", done.stdout, re.M)
    checks.check(counts and int(counts[1]), f"test_{name}.py ran to its end")
    if counts:
        checks.passed, checks.failed, checks.skipped = (
            have + int(more) for have, more in zip((checks.passed, checks.failed, checks.skipped), counts.groups()))


def main():
    checks = Checks()
    names = sys.argv[1:] or sorted(path.stem.removeprefix("test_") for path in TESTS.glob("test_*.py"))
    with tempfile.TemporaryDirectory() as folder:
        wheel = build_wheel(checks, folder)
        check_wheel(checks, wheel)
        python = make_environment(checks, f"{folder}/env", wheel)

        text = "two (float[N] a, float[N] b) => (float[N] sum, float[N] difference) { sum = Add(a, b)  difference = Sub(a, b) }"
        onnx.save(onnx.parser.parse_model('<ir_version: 10, opset_import: ["" : 21]>' + text), f"{folder}/two.onnx")
        checks.check(run_tool("llmc", f"{folder}/two.onnx", "-o", f"{folder}/two.llmc").returncode == 0, "a model for it")
        run(checks, "it runs where nothing else is installed", python, TESTS / "bare.py", f"{folder}/two.llmc", PYTHONPATH="")

        packages = sysconfig.get_path("purelib")
        library = next(Path(folder).glob("env/lib/python*/site-packages/llmc"))
        run(checks, "mypy accepts the package", sys.executable, "-m", "mypy", "--strict", library, "--cache-dir", f"{folder}/mypy")
        run(checks, "mypy accepts a caller", sys.executable, "-m", "mypy", "--strict", TESTS / "typed.py", "--cache-dir",
            f"{folder}/mypy", MYPYPATH=str(library.parent))
        for name in names:
            run_tests(checks, python, name, packages)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
