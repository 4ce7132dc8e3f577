"""Runs models that llmc has compiled.

>>> import llmc
>>> model = llmc.load("model.llmc")
>>> outputs = model({"x": x})

docs/python.md of the project says more.
"""

from ._llmc import Tensor, host_cpu_level, version
from .batcher import BatchClass, Batcher, BatchModel, BatchStats, Latency, ModelSettings
from .compiler import compile
from .errors import (CancelledError, CompileError, DataError, DeadlineError, Error, FileError, IncompatibleError, InternalError,
                     InvalidArgumentError, InvalidPlanError, OutOfMemoryError, RejectedError, ShapeError, Status)
from .future import Future
from .model import Dim, Model, TensorInfo, load

__version__ = version()

__all__ = [
    "BatchClass", "BatchModel", "BatchStats", "Batcher", "CancelledError", "CompileError", "DataError", "DeadlineError", "Dim", "Error",
    "FileError", "Future", "IncompatibleError", "InternalError", "InvalidArgumentError", "InvalidPlanError", "Latency", "Model", "ModelSettings",
    "OutOfMemoryError", "RejectedError", "ShapeError", "Status", "Tensor", "TensorInfo", "__version__", "compile", "host_cpu_level", "load"
]
