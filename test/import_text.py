"""import_text.py FILE.onnxtxt [OPTION...]: imports a model in text syntax with print-import, which is in the PATH."""
import os
import subprocess
import sys
import tempfile

import onnx.parser

with tempfile.TemporaryDirectory() as folder:
    model = os.path.join(folder, "model.onnx")
    with open(sys.argv[1], encoding="utf-8") as text:
        onnx.save(onnx.parser.parse_model(text.read()), model)
    sys.exit(subprocess.run(["print-import", model, *sys.argv[2:]]).returncode)
