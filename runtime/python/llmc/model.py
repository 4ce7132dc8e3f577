"""A compiled model: what it takes and gives, and running it."""

from __future__ import annotations

import dataclasses
import os
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _llmc
from .arrays import to_array
from .batcher import Batcher
from .errors import InvalidArgumentError
from .future import Future

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]


@dataclasses.dataclass(frozen=True)
class Dim:
    """A size of an input or output."""

    name: str
    """As in the model; "" if it has none."""
    size: int | None
    """None if it is not fixed."""
    low: int
    """The least size that is allowed."""
    high: int
    """The greatest size that is allowed."""


@dataclasses.dataclass(frozen=True)
class TensorInfo:
    """An input or output of a model."""

    name: str
    dtype: str
    """Type of the elements, as numpy calls it: 'float32'."""
    dims: tuple[Dim, ...]
    generated: bool = False
    """Whether batchers make it, so that requests to them leave it out."""

    @property
    def shape(self) -> tuple[int | str | None, ...]:
        """A size, a name or None for each dim: ('N', 3, 224, 224)."""
        return tuple(dim.size if dim.size is not None else dim.name or None for dim in self.dims)


def _dim(name: str, size: int, low: int, high: int) -> Dim:
    return Dim(name, None if size < 0 else size, low, high)


def _infos(raw: list[tuple[str, str, tuple[tuple[str, int, int, int], ...], bool]]) -> tuple[TensorInfo, ...]:
    return tuple(
        TensorInfo(name, dtype, tuple(_dim(*dim) for dim in dims), generated)
        for name, dtype, dims, generated in raw)


class Model:
    """A loaded artifact. Any number of threads may call it at once.

    >>> model = llmc.load("model.llmc")
    >>> model({"x": x})["y"]

    A process made by fork can not use the models of its parent: it gets an error.
    """

    def __init__(self, runner: _llmc.Runner) -> None:
        self._runner: _llmc.Runner | None = runner
        self._inputs, self._outputs = _infos(runner.inputs()), _infos(runner.outputs())
        self._input_names = [info.name for info in self._inputs]
        self._output_names = [info.name for info in self._outputs]
        self._lock = threading.Lock()
        self._batcher: Batcher | None = None

    @property
    def inputs(self) -> tuple[TensorInfo, ...]:
        """What the model takes, in the order of positional arguments."""
        return self._inputs

    @property
    def outputs(self) -> tuple[TensorInfo, ...]:
        """What the model gives, in the order of the results."""
        return self._outputs

    @property
    def entry(self) -> str:
        """Name of the entry of the artifact."""
        return self._open().entry

    @property
    def batch_dim(self) -> str:
        """Name of the dim that batches grow in, if the artifact was compiled with --batch-dim; "" otherwise."""
        return self._open().batch_dim

    @property
    def threads(self) -> int:
        """Threads of each run."""
        return self._open().threads

    @property
    def cpu_level(self) -> str:
        """Level of the code in use, as in 'x86-64-v3'."""
        return self._open().cpu_level

    def __call__(self, *inputs: Any) -> dict[str, Array]:
        """Runs the model. Takes a dict by name, or the inputs in their order; returns the outputs by name, in their order.

        An input is a numpy array, or anything that has DLPack or the buffer protocol. Row-major ones are read in place, others
        are copied; nothing is converted. Results are numpy arrays in memory of their own.
        """
        return self._results(self._open().run(self._ordered(inputs, self._input_names)))

    def submit(self, *inputs: Any, deadline: float = 0, queue_timeout: float = 0, priority: int = 0, stream: int = 0) -> Future:
        """Has the model run by its `batcher`, as `Batcher.submit` says."""
        return self.batcher.submit(*inputs, deadline=deadline, queue_timeout=queue_timeout, priority=priority, stream=stream)

    async def run_async(self, *inputs: Any, deadline: float = 0, queue_timeout: float = 0, priority: int = 0,
                        stream: int = 0) -> dict[str, Array]:
        """The outputs, as `submit` gives them, for `await`. Cancelling the task cancels the request."""
        return await self.batcher.run_async(*inputs, deadline=deadline, queue_timeout=queue_timeout, priority=priority, stream=stream)

    @property
    def batcher(self) -> Batcher:
        """What serves `submit` and `run_async`: made at its first use, with the defaults. An artifact that was not compiled with
        --batch-dim runs each request alone."""
        with self._lock:
            if self._batcher is None:
                self._batcher = Batcher(self, batch_dim=None if self.batch_dim else "")
            return self._batcher

    def close(self) -> None:
        """Lets go of the artifact. Runs under way end first; arrays stay. Once more does nothing."""
        with self._lock:
            batcher, self._batcher, self._runner = self._batcher, None, None
        if batcher is not None:
            batcher.close()

    def __enter__(self) -> Model:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        def texts(infos: tuple[TensorInfo, ...]) -> str:
            return ", ".join(f"{info.name}: {info.dtype}[{', '.join(str(dim) for dim in info.shape)}]" for info in infos)

        return f"<llmc.Model ({texts(self._inputs)}) -> ({texts(self._outputs)})>"

    def _open(self) -> _llmc.Runner:
        if self._runner is None:
            raise InvalidArgumentError("the model is closed")
        return self._runner

    def _ordered(self, given: tuple[Any, ...], names: list[str]) -> list[Any]:
        if len(given) == 1 and isinstance(given[0], Mapping):
            by_name = given[0]
            if len(by_name) != len(names) or any(name not in by_name for name in names):
                raise InvalidArgumentError(_difference(names, by_name))
            return [by_name[name] for name in names]
        if len(given) != len(names):
            raise InvalidArgumentError(f"{len(given)} inputs are given; the model takes {_quoted(names)}")
        return list(given)

    def _results(self, tensors: list[_llmc.Tensor]) -> dict[str, Array]:
        return {name: to_array(tensor) for name, tensor in zip(self._output_names, tensors)}


def _quoted(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "none"


def _difference(names: list[str], given: Mapping[str, Any]) -> str:
    for name in given:
        if name not in names:
            return f"there is no input '{name}'; there is {_quoted(names)}"
    return f"input {_quoted([name for name in names if name not in given])} is missing"


def load(source: str | os.PathLike[str] | Any, *, entry: str = "", threads: int = 0, cpu_level: str = "", verify: bool = False,
         shape_cache_size: int = 0, device_profile: str | os.PathLike[str] = "") -> Model:
    """Loads an artifact that the compiler made.

    Args:
        source: the name of a file, which is mapped; or bytes (any object with the buffer protocol, which is kept).
        entry: name of the entry to run; the first by default.
        threads: of each run; 0: as many as this process may use.
        cpu_level: only code of this level, as in "x86-64-v3"; the best that this machine has by default.
        verify: whether to compare the weights with their hashes, which reads all of them.
        shape_cache_size: shapes whose preparation is kept; 0: 64.
        device_profile: a file that says what devices cost and how much memory simulated ones have.
    """
    if isinstance(source, os.PathLike):
        source = os.fspath(source)
    return Model(_llmc.load(source, entry, threads, cpu_level, verify, shape_cache_size, os.fspath(device_profile)))
