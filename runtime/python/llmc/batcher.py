"""Requests of many callers that run together."""

from __future__ import annotations

import asyncio
import atexit
import dataclasses
import os
import weakref
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

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


def _microseconds(name: str, seconds: float) -> int:
    if not 0 <= seconds < 1e9:
        raise InvalidArgumentError(f"option '{name}' is {seconds} seconds, expected 0 or more")
    return 0 if seconds == 0 else max(1, round(seconds * 1e6))


def _latency(raw: Sequence[int]) -> Latency:
    return Latency(raw[0], *(nanoseconds / 1e9 for nanoseconds in raw[1:]))


class Batcher:
    """Takes requests from any number of threads and tasks, and runs those that fit together as one batch.

    Rows of a batch never influence each other: an answer is, to the bit, that of a run of the request alone.

    >>> with llmc.Batcher(model, max_rows=16) as batcher:
    ...     futures = [batcher.submit({"x": x}) for x in rows]
    ...     answers = [future.result()["y"] for future in futures]

    Times are seconds; 0 means the default, or none. docs/batching.md says how to choose.
    """

    def __init__(self, model: Model, *, batch_dim: str | None = None, sizes: Sequence[int] = (), max_rows: int = 0,
                 preferred: Sequence[int] = (), only_preferred: bool = False, split_large: bool = False, pad: Pad = "min_cost",
                 max_shapes: int = 0, instances: int = 0, delay: float = 0, classes: Sequence[BatchClass] = (),
                 default_priority: int = 0, aging: float | None = None, strict: bool = False, mix: Mix = "fill",
                 order: Order = "none", max_queued_requests: int = 0, max_queued_rows: int = 0, max_queued_bytes: int = 0,
                 max_requests: int = 0, admit_by_deadline: bool = False, double_buffer: bool = False, stateful: bool = False,
                 breaker_min_requests: int = 0, slo_p99: float = 0, exec_p95: float = 0, cache_bytes: int = 0, spin: float = 0,
                 record: str | os.PathLike[str] = "") -> None:
        """Makes the threads.

        Args:
            model: whose requests these are; it may be closed afterwards.
            batch_dim: name of the dim that batches grow in. None: as the artifact says (llmc --batch-dim), which the compiler has
                checked. A name is the caller's word that rows do not influence each other. "": each request runs alone.
            sizes: row counts that run, ascending; those of the artifact by default, else any.
            max_rows: rows of a batch; the largest size by default, or 32 where any runs.
            preferred: row counts, ascending, the last of which does not wait for more.
            only_preferred: whether no other row count runs.
            split_large: whether a request of more rows runs in parts; else it is refused.
            pad: what runs when the rows that wait lie between two sizes.
            max_shapes: shapes, beside the rows, that may be in use at one time where dims are exact; 0: 16.
            instances: runs at one time; 0: 1.
            delay: how long a request may wait for others to share its run.
            classes: of priorities 1, 2 ...; one without limits by default.
            default_priority: 0: 1, the most urgent.
            aging: head start of a priority over the next one. None: one second; 0: none, first come, first served.
            strict: whether priority 1 is always first, but for one of every 8 batches.
            mix: who may share a batch with a more urgent request.
            order: in which requests end.
            max_queued_requests, max_queued_rows, max_queued_bytes: limits of what waits; 0: none.
            max_requests: that are under way; 0: 4096.
            admit_by_deadline: whether to refuse at once what can not be done in time.
            double_buffer: whether to gather the next batch while one runs.
            stateful: whether nothing may run again after a failure.
            breaker_min_requests: failures stop the model for a while once half of so many requests in 10 s failed; 0: 20; -1: never.
            slo_p99: delay and queue limit adapt to it; 0: off.
            exec_p95: the largest batch adapts to it; 0: off.
            cache_bytes: for inputs and answers, which equal inputs get again; 0: none.
            spin: that threads which wait burn before they sleep.
            record: a file that gets a line for each request, for llmc-batch-sim --trace.
        """
        options: dict[str, Any] = {
            "sizes": list(sizes), "max_rows": max_rows, "preferred": list(preferred), "only_preferred": int(only_preferred),
            "split_large": int(split_large), "max_shapes": max_shapes, "instances": instances,
            "delay_us": _microseconds("delay", delay), "default_priority": default_priority, "strict": int(strict),
            "max_queued_requests": max_queued_requests, "max_queued_rows": max_queued_rows, "max_queued_bytes": max_queued_bytes,
            "max_requests": max_requests, "admit_by_deadline": int(admit_by_deadline), "double_buffer": int(double_buffer),
            "stateful": int(stateful), "breaker_min_requests": breaker_min_requests, "cache_bytes": cache_bytes,
            "slo_p99_us": _microseconds("slo_p99", slo_p99), "exec_p95_us": _microseconds("exec_p95", exec_p95),
            "spin_us": _microseconds("spin", spin), "record": os.fspath(record),
            "classes": [{"queue_timeout_us": _microseconds("queue_timeout", one.queue_timeout), "demote": int(one.demote),
                         "max_queued_requests": one.max_queued_requests} for one in classes]}
        if batch_dim is not None:
            options["batch_dim"] = batch_dim
        if aging is not None:
            options["aging_us"] = _microseconds("aging", aging) or -1
        for name, choice in (("pad", pad), ("mix", mix), ("order", order)):
            if choice not in _CHOICES[name]:
                raise InvalidArgumentError(f"option '{name}' is '{choice}', expected one of {', '.join(_CHOICES[name])}")
            options[name] = _CHOICES[name].index(choice)
        self._model = model
        self._batcher = _llmc.Batcher(model._open(), options)
        _living.add(self)

    def submit(self, *inputs: Any, deadline: float = 0, queue_timeout: float = 0, priority: int = 0, stream: int = 0) -> Future:
        """Submits a request: a dict by name, or the inputs in their order, of one or more rows.

        Row-major inputs are read in place: leave them alone until the future is done. Raises at once what is wrong with the
        request, and RejectedError if there is no room for it.

        Args:
            deadline: seconds from now, for the whole request; 0: none.
            queue_timeout: seconds from now, until its run starts; 0: that of its class.
            priority: 1 is the most urgent; 0: the default.
            stream: requests of one stream end in their order if the batcher's order is "stream"; 0: none.
        """
        options: dict[str, int] = {}
        if deadline:
            options["deadline_us"] = _microseconds("deadline", deadline)
        if queue_timeout:
            options["queue_timeout_us"] = _microseconds("queue_timeout", queue_timeout)
        if priority:
            options["priority"] = priority
        if stream:
            options["stream"] = stream
        future = Future(self._model._results)
        future._request = self._batcher.submit(self._model._ordered(inputs), future, options)
        return future

    async def run_async(self, *inputs: Any, deadline: float = 0, queue_timeout: float = 0, priority: int = 0,
                        stream: int = 0) -> dict[str, Array]:
        """The outputs, as `submit` gives them, for `await`. Cancelling the task cancels the request."""
        return await asyncio.wrap_future(
            self.submit(*inputs, deadline=deadline, queue_timeout=queue_timeout, priority=priority, stream=stream))

    def stats(self) -> BatchStats:
        """Counts and latencies; all of one moment."""
        raw = self._batcher.stats()
        raw["delay"] = raw.pop("delay_ns") / 1e9
        return BatchStats(**raw | {kind: _latency(raw[kind]) for kind in _KINDS})

    def count(self, reason: str) -> int:
        """How many requests ended for a reason, as in "queue_full"; -1 if there is no such reason."""
        return self._batcher.count(reason)

    def histogram(self, kind: LatencyKind = "total") -> list[tuple[float, int]]:
        """(Greatest seconds, how many) of each column that has values."""
        return [(nanoseconds / 1e9, count) for nanoseconds, count in self._batcher.histogram(_KINDS.index(kind))]

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
