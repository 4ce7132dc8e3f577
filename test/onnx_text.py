"""onnx_text.py FILE.onnxtxt FILE.onnx: writes a model in text syntax as a model file."""
import sys
from pathlib import Path

import onnx.parser

onnx.save(onnx.parser.parse_model(Path(sys.argv[1]).read_text()), sys.argv[2])
