"""Results as numpy arrays over the memory that the results own; numpy need not be there."""

from __future__ import annotations

import importlib
from typing import Any

from ._llmc import Tensor


def _optional(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


_numpy = _optional("numpy")
_ml_dtypes: Any = None


def to_array(tensor: Tensor) -> Any:
    """A numpy array that shares the tensor's memory; the tensor itself where numpy or its type of elements is not there."""
    global _ml_dtypes
    if _numpy is None:
        return tensor
    if tensor.dtype != "bfloat16":
        return _numpy.asarray(tensor)
    _ml_dtypes = _ml_dtypes or _optional("ml_dtypes")
    if _ml_dtypes is None:
        return tensor
    return _numpy.frombuffer(tensor.data, _ml_dtypes.bfloat16).reshape(tensor.shape)
