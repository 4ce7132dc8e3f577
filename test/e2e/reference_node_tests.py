#!/usr/bin/env python3
"""The importer and the reference kernels on all ONNX node tests: see test/compiler/Import/reference-node-tests.cpp."""
import subprocess
import sys
from pathlib import Path

root = Path(__file__).resolve().parent.parent.parent
get = [sys.executable, root / "tools/models/get.py", "node_tests"]
folder = subprocess.run(get, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
sys.exit(subprocess.run([root / "build/release/test/reference-node-tests", folder, "--verbose"]).returncode)
