"""What the tests of the Python package share: small models, compiled once per process."""
import atexit
import functools
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import onnx.parser

import llmc

FOLDER = Path(tempfile.mkdtemp(prefix="llmc-python-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)

HEAD = '<ir_version: 10, opset_import: ["" : 21]>\n'
MODELS = {
    "layer": """layer (float[N, 2, 2] x) => (float[N, 2] y)
        <int64[2] shape = {-1, 4}, float[4, 2] w = {1, 2, 3, 4, 5, 6, 7, 8}, float[2] b = {0.5, -0.5}>
        { f = Reshape(x, shape)  p = MatMul(f, w)  s = Add(p, b)  y = Relu(s) }""",
    "two": """two (float[N] a, float[N] b) => (float[N] sum, float[N] difference)
        { sum = Add(a, b)  difference = Sub(a, b) }""",
    "lookup": """lookup (int64[N] index) => (float[N, 2] row)
        <float[3, 2] table = {0, 1, 2, 3, 4, 5}> { [pick] row = Gather(table, index) }""",
    "nonzero": """nonzero (float[N] x) => (int64[1, M] where) { where = NonZero(x) }""",
    "state": """state (float[N, 4] x, float[N, 4] h) => (float[N, 4] next) { s = Add(x, h)  next = Tanh(s) }""",
    "large": """large (float[1024, 1024] x) => (float[1024, 1024] y) { y = Neg(x) }""",
    "rows": """rows (float[N, 512] x) => (float[N, 512] y) <int64 trips = {100}, bool go = {1}, float c = {0.0625}, int64[2] size = {512, 512}>
        { w = Expand(c, size)
          y = Loop <body = step (int64 i, bool more, float[N, 512] a) => (bool on, float[N, 512] b)
            { on = Identity(more)  m = MatMul(a, w)  b = Tanh(m) }> (trips, go, x) }""",
    "slow": """slow (float[N, 512] x) => (float[N, 512] y) <int64 trips = {400}, bool go = {1}>
        { y = Loop <body = step (int64 i, bool more, float[N, 512] a) => (bool on, float[N, 512] b)
            { on = Identity(more)  t = Transpose <perm = [1, 0]> (a)  m = MatMul(a, t)  s = MatMul(m, a)  b = Tanh(s) }> (trips, go, x) }""",
}


def double_of(onnx_type):
    """A model that doubles a vector of elements of a type (as ONNX's text syntax calls it)."""
    return f"double ({onnx_type}[N] x) => ({onnx_type}[N] y) {{ y = Add(x, x) }}"


def model_proto(text):
    return onnx.parser.parse_model(HEAD + text)


@functools.cache
def artifact(name, **options):
    """Path of the artifact of a model: a name of MODELS, or text."""
    return llmc.compile(model_proto(MODELS.get(name, name)), FOLDER / f"{len(list(FOLDER.iterdir()))}.llmc", j=1, **options)


def load(name, **options):
    return llmc.load(artifact(name), **{"threads": 1} | options)


def run_script(text, *arguments, timeout=60):
    """A finished process of this Python that runs `text`, which has FOLDER's artifacts as arguments."""
    return subprocess.run([sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(text), *map(str, arguments)],
                          capture_output=True, text=True, timeout=timeout)


def resident_kib():
    """Memory of this process."""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])
