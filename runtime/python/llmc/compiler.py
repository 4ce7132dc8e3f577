"""Calls the compiler, where it is installed: the package itself is the runtime alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .errors import CompileError


def _find_compiler() -> str:
    places = [os.environ.get("LLMC_BIN"), None, str(Path(__file__).parent / "bin"), str(Path(sys.prefix) / "bin")]
    for place in places:  # None: the PATH
        found = shutil.which("llmc", path=place) if place != "" else None
        if found:
            return found
    raise CompileError("the compiler 'llmc' is not there: it is not in the PATH, not in the folder of the variable LLMC_BIN, and "
                       "not beside this package, which holds the runtime alone")


def _arguments(options: Mapping[str, Any]) -> Iterator[str]:
    """batch_dim="N" -> --batch-dim=N; dim={"N": 4} -> --dim=N=4; cpu=["a", "b"] -> --cpu=a --cpu=b; flag=True -> --flag."""
    for name, value in options.items():
        flag = ("-" if len(name) == 1 else "--") + name.replace("_", "-")
        separator = "" if len(name) == 1 else "="
        if value is None or value is False:
            continue
        if value is True:
            yield flag
        elif isinstance(value, Mapping):
            yield from (f"{flag}{separator}{key}={item}" for key, item in value.items())
        elif isinstance(value, (list, tuple)):
            yield from (f"{flag}{separator}{item}" for item in value)
        else:
            yield f"{flag}{separator}{value}"


def _run(model: str, output: Path, options: Mapping[str, Any]) -> None:
    command = [_find_compiler(), model, "-o", str(output), *_arguments(options)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    except OSError as error:
        raise CompileError(f"the compiler can not be started: {error}") from error
    if done.returncode != 0:
        raise CompileError(done.stderr.strip() or f"the compiler ended with {done.returncode}")


def compile(model: Any, output: str | os.PathLike[str] | None = None, **options: Any) -> Path:
    """Compiles an ONNX model with the installed compiler. Returns the artifact's path, for `load`.

    Args:
        model: the name of a file, or an onnx.ModelProto.
        output: the artifact; by default the model's name with .llmc, beside it. A ModelProto needs it.
        options: those of the command line, with _ for -: dim={"N": "1..32"}, cpu=["x86-64-v3", "x86-64-v4"], O=3.

    Raises:
        CompileError: with what the compiler said.
    """
    if isinstance(model, (str, os.PathLike)):
        path = Path(model)
        target = Path(output) if output is not None else path.with_suffix(".llmc")
        _run(str(path), target, options)
        return target
    if not hasattr(model, "SerializeToString"):
        raise TypeError(f"a model is the name of a file or an onnx.ModelProto, not {type(model).__name__}")
    if output is None:
        raise TypeError("a ModelProto has no name to put the artifact beside: say where with output=")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(model.SerializeToString())
        _run(str(path), Path(output), options)
    return Path(output)
