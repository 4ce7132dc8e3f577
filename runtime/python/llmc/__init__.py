"""Runs models that llmc has compiled.

>>> import llmc
>>> model = llmc.load("model.llmc")
>>> outputs = model({"x": x})

docs/python.md of the project says more.
"""

from ._llmc import Tensor, host_cpu_level, version
from .compiler import compile
from .errors import (CancelledError, CompileError, DataError, Error, FileError, IncompatibleError, InternalError,
                     InvalidArgumentError, InvalidPlanError, OutOfMemoryError, ShapeError, Status)
from .model import Dim, Model, TensorInfo, load

__version__ = version()

__all__ = [
    "CancelledError", "CompileError", "DataError", "Dim", "Error", "FileError", "IncompatibleError", "InternalError",
    "InvalidArgumentError", "InvalidPlanError", "Model", "OutOfMemoryError", "ShapeError", "Status", "Tensor", "TensorInfo",
    "__version__", "compile", "host_cpu_level", "load"
]
