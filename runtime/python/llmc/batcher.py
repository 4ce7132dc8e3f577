"""Requests of many callers that run together."""

from __future__ import annotations

import asyncio
import atexit
import dataclasses
import os
import weakref
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from . import _llmc
from .errors import InvalidArgumentError
from .future import Future

if TYPE_CHECKING:
    from .model import Array, Model

Pad = Literal["min_cost", "up", "down"]
Mix = Literal["fill", "merge", "isolate"]
Order = Literal["none", "stream", "model"]
LatencyKind = Literal["queue", "run", "total"]
_CHOICES = {"pad": ("min_cost", "up", "down"), "mix": ("fill", "merge", "isolate"), "order": ("none", "stream", "model")}
_KINDS = ("queue", "run", "total")


@dataclasses.dataclass(frozen=True)
class BatchClass:
    """How requests of one priority wait."""

    queue_timeout: float = 0
    """Longest wait in seconds before a run starts; 0: none."""
    demote: bool = False
    """Whether a request goes behind all others after that wait, rather than being rejected."""
    max_queued_requests: int = 0
    """0: no limit."""


@dataclasses.dataclass(frozen=True)
class Latency:
    """A distribution of times, in seconds."""

    count: int
    mean: float
    p50: float
    p90: float
    p95: float
    p99: float
    p999: float
    max: float


@dataclasses.dataclass(frozen=True)
class BatchStats:
    """What a batcher has done since it was made, and what waits at this moment."""

    admitted: int
    done: int
    failed: int
    rejected: int
    expired: int
    cancelled: int
    late: int
    """Done after their deadline."""
    executions: int
    failed_executions: int
    rows: int
    """Of executions, as asked for."""
    executed_rows: int
    """With padding."""
    cache_hits: int
    cache_misses: int
    queue: Latency
    """From submission to start."""
    run: Latency
    """Of executions."""
    total: Latency
    """From submission to end, of requests that are done."""
    queued_requests: int
    queued_rows: int
    queued_bytes: int
    delay: float
    """In seconds, as adapted."""


class ModelSettings(TypedDict, total=False):
    """How requests of a model are batched. Times are seconds; 0 means the default, or none."""

    batch_dim: str | None
    """Name of the dim that batches grow in. None: as the artifact says (llmc --batch-dim), which the compiler has checked. A name is
    the caller's word that rows do not influence each other. "": each request runs alone."""
    sizes: Sequence[int]
    """Row counts that run, ascending; those of the artifact by default, else any."""
    max_rows: int
    """Rows of a batch; the largest size by default, or 32 where any runs."""
    preferred: Sequence[int]
    """Row counts, ascending, the last of which does not wait for more."""
    only_preferred: bool
    """Whether no other row count runs."""
    split_large: bool
    """Whether a request of more rows runs in parts; else it is refused."""
    pad: Pad
    """What runs when the rows that wait lie between two sizes."""
    max_shapes: int
    """Shapes, beside the rows, that may be in use at one time where dims are exact; 0: 16."""
    instances: int
    """Runs at one time; 0: 1."""
    delay: float
    """How long a request may wait for others to share its run."""
    classes: Sequence[BatchClass]
    """Of priorities 1, 2 ...; one without limits by default."""
    default_priority: int
    """0: 1, the most urgent."""
    aging: float | None
    """Head start of a priority over the next one. None: one second; 0: none, first come, first served."""
    strict: bool
    """Whether priority 1 is always first, but for one of every 8 batches."""
    mix: Mix
    """Who may share a batch with a more urgent request."""
    order: Order
    """In which requests end."""
    max_queued_requests: int
    max_queued_rows: int
    max_queued_bytes: int
    """Limits of what waits; 0: none."""
    admit_by_deadline: bool
    """Whether to refuse at once what can not be done in time."""
    weight: int
    """Share of the time, against the other models of the batcher; 0: 1."""
    double_buffer: bool
    """Whether to gather the next batch while one runs."""
    stateful: bool
    """Whether nothing may run again after a failure."""
    breaker_min_requests: int
    """Failures stop the model for a while once half of so many requests in 10 s failed; 0: 20; -1: never."""
    fallback: Sequence[str]
    """Names of models of the batcher that take over meanwhile, which take the same inputs."""
    slo_p99: float
    """Delay and queue limit adapt to it; 0: off."""
    exec_p95: float
    """The largest batch adapts to it; 0: off."""
    cache_bytes: int
    """For inputs and answers, which equal inputs get again; 0: none."""


class BatchModel:
    """A model of a batcher of several, with settings of its own: those of `llmc.ModelSettings`."""

    def __init__(self, model: Model, **settings: Unpack[ModelSettings]) -> None:
        self.model = model
        self.settings = settings


_FLAGS = ("only_preferred", "split_large", "strict", "admit_by_deadline", "double_buffer", "stateful")
_SPANS = ("delay", "slo_p99", "exec_p95")


def _microseconds(name: str, seconds: float) -> int:
    if not 0 <= seconds < 1e9:
        raise InvalidArgumentError(f"option '{name}' is {seconds} seconds, expected 0 or more")
    return 0 if seconds == 0 else max(1, round(seconds * 1e6))


def _latency(raw: Sequence[int]) -> Latency:
    return Latency(raw[0], *(nanoseconds / 1e9 for nanoseconds in raw[1:]))


def _raw_settings(settings: Mapping[str, Any], names: Sequence[str]) -> dict[str, object]:
    """As the C API has them."""
    raw = dict(settings)
    for name in raw:
        if name not in ModelSettings.__annotations__:
            raise TypeError(f"there is no setting '{name}' of a model")
    for name, choices in _CHOICES.items():
        if name in raw:
            if raw[name] not in choices:
                raise InvalidArgumentError(f"option '{name}' is '{raw[name]}', expected one of {', '.join(choices)}")
            raw[name] = choices.index(raw[name])
    for name in _SPANS:
        raw[f"{name}_us"] = _microseconds(name, raw.pop(name, 0))
    aging = raw.pop("aging", None)
    if aging is not None:
        raw["aging_us"] = _microseconds("aging", aging) or -1
    if raw.get("batch_dim") is None:
        raw.pop("batch_dim", None)
    for name in raw.keys() & _FLAGS:
        raw[name] = int(raw[name])
    for name in raw.keys() & {"sizes", "preferred"}:
        raw[name] = list(raw[name])
    raw["classes"] = [{"queue_timeout_us": _microseconds("queue_timeout", one.queue_timeout), "demote": int(one.demote),
                       "max_queued_requests": one.max_queued_requests} for one in raw.get("classes", ())]
    raw["fallback"] = [_find(name, names) for name in raw.get("fallback", ())]
    return raw


def _find(name: str, names: Sequence[str]) -> int:
    if name not in names:
        raise InvalidArgumentError(f"there is no model '{name}'; there is {', '.join(map(repr, names))}")
    return names.index(name)


class Batcher:
    """Takes requests from any number of threads and tasks, and runs those that fit together as one batch.

    Rows of a batch never influence each other: an answer is, to the bit, that of a run of the request alone.

    >>> with llmc.Batcher(model, max_rows=16) as batcher:
    ...     futures = [batcher.submit({"x": x}) for x in rows]
    ...     answers = [future.result()["y"] for future in futures]

    Several models share its threads, by name:

    >>> models = {"large": llmc.BatchModel(large, fallback=["small"], weight=3), "small": small}
    >>> with llmc.Batcher(models, delay=0.001) as batcher:
    ...     future = batcher.submit({"x": x}, model="large")

    docs/batching.md says how to choose settings.
    """

    def __init__(self, models: Model | BatchModel | Mapping[str, Model | BatchModel], *, max_requests: int = 0, parallel_runs: int = 0,
                 total_queued_bytes: int = 0, spin: float = 0, record: str | os.PathLike[str] = "",
                 **settings: Unpack[ModelSettings]) -> None:
        """Makes the threads.

        Args:
            models: whose requests these are; one is known by the name of its entry. They may be closed afterwards.
            max_requests: that are under way; 0: 4096.
            parallel_runs: of all models; 0: the most instances that one model has.
            total_queued_bytes: limit of what waits, of all models; 0: none.
            spin: that threads which wait burn before they sleep.
            record: a file that gets settings, requests and runs, for llmc-batch-sim --replay.
            settings: of each model (`llmc.ModelSettings`), but for what a BatchModel has of its own.
        """
        if not isinstance(models, Mapping):
            models = {(models.model if isinstance(models, BatchModel) else models).entry: models}
        self._names = list(models)
        self._models: list[Model] = []
        self._inputs: list[list[str]] = []  # of requests to each model
        raw: list[tuple[str, _llmc.Runner, dict[str, object]]] = []
        for name, one in models.items():
            model, own = (one.model, one.settings) if isinstance(one, BatchModel) else (one, ModelSettings())
            self._models.append(model)
            alone = {**settings, **own}.get("batch_dim") == ""
            self._inputs.append([info.name for info in model.inputs if alone or not info.generated])
            raw.append((name, model._open(), _raw_settings({**settings, **own}, self._names)))
        self._batcher = _llmc.Batcher(raw, {"max_requests": max_requests, "parallel_runs": parallel_runs,
                                            "max_queued_bytes": total_queued_bytes, "spin_us": _microseconds("spin", spin),
                                            "record": os.fspath(record)})
        _living.add(self)

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""
        return tuple(self._names)

    def _index(self, model: str | None) -> int:
        if model is not None:
            return _find(model, self._names)
        if len(self._names) > 1:
            raise InvalidArgumentError(f"which model is not said; there is {', '.join(map(repr, self._names))}")
        return 0

    def submit(self, *inputs: Any, model: str | None = None, deadline: float = 0, queue_timeout: float = 0, priority: int = 0,
               stream: int = 0, version: int = 0) -> Future:
        """Submits a request: a dict by name, or the inputs in their order, of one or more rows.

        Row-major inputs are read in place: leave them alone until the future is done. Raises at once what is wrong with the
        request, and RejectedError if there is no room for it.

        Args:
            model: its name, where the batcher has several.
            deadline: seconds from now, for the whole request; 0: none.
            queue_timeout: seconds from now, until its run starts; 0: that of its class.
            priority: 1 is the most urgent; 0: the default.
            stream: requests of one stream end in their order if the batcher's order is "stream"; 0: none.
            version: of the model, which then serves it even if another one has taken its place; 0: the present one.
        """
        index = self._index(model)
        options: dict[str, int] = {"model": index}
        if deadline:
            options["deadline_us"] = _microseconds("deadline", deadline)
        if queue_timeout:
            options["queue_timeout_us"] = _microseconds("queue_timeout", queue_timeout)
        if priority:
            options["priority"] = priority
        if stream:
            options["stream"] = stream
        if version:
            options["version"] = version
        asked = self._models[index]
        names = self._inputs[index]
        future = Future(asked._results)
        future._request = self._batcher.submit(asked._ordered(inputs, names), future, options)
        return future

    async def run_async(self, *inputs: Any, model: str | None = None, deadline: float = 0, queue_timeout: float = 0, priority: int = 0,
                        stream: int = 0, version: int = 0) -> dict[str, Array]:
        """The outputs, as `submit` gives them, for `await`. Cancelling the task cancels the request."""
        return await asyncio.wrap_future(
            self.submit(*inputs, model=model, deadline=deadline, queue_timeout=queue_timeout, priority=priority, stream=stream,
                        version=version))

    def version(self, model: str | None = None) -> int:
        """The version of a model with which new requests start. The first is 1."""
        return self._batcher.version(self._index(model))

    def swap(self, by: Model, model: str | None = None) -> int:
        """Has new requests, and those that wait, run by another model, whose inputs, outputs and batching are the same. Runs under
        way end with the old one. Returns the number of the new version; `by` may be closed afterwards."""
        return self._batcher.swap(self._index(model), by._open())

    def stats(self, model: str | None = None) -> BatchStats:
        """Counts and latencies of a model; all of one moment. A request counts with the model that it was submitted to, a run with
        the one that ran."""
        raw = self._batcher.stats(self._index(model))
        raw["delay"] = raw.pop("delay_ns") / 1e9
        return BatchStats(**raw | {kind: _latency(raw[kind]) for kind in _KINDS})

    def count(self, reason: str, model: str | None = None) -> int:
        """How many requests ended for a reason, as in "queue_full"; -1 if there is no such reason."""
        return self._batcher.count(self._index(model), reason)

    def histogram(self, kind: LatencyKind = "total", model: str | None = None) -> list[tuple[float, int]]:
        """(Greatest seconds, how many) of each column that has values."""
        columns = self._batcher.histogram(self._index(model), _KINDS.index(kind))
        return [(nanoseconds / 1e9, count) for nanoseconds, count in columns]

    def drain(self, timeout: float | None = None) -> None:
        """Refuses new requests and waits until all have ended. What has not started after `timeout` seconds is rejected."""
        self._batcher.drain(None if timeout is None else _microseconds("timeout", timeout))

    def close(self) -> None:
        """Refuses new requests, rejects those that wait, and ends once runs under way have. Once more does nothing."""
        _living.discard(self)
        self._batcher.close()

    def __enter__(self) -> Batcher:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Waits for all requests, then closes; after an exception, it closes at once."""
        if kind is None:
            self.drain()
        self.close()


_living: weakref.WeakSet[Batcher] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Threads of batchers tell futures of ends, for which the interpreter must be there."""
    for batcher in list(_living):
        batcher.close()
