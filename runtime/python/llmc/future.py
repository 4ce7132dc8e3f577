"""Answers that are under way."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _llmc
from .errors import Status, make

if TYPE_CHECKING:
    from .model import Array


class Future(concurrent.futures.Future["dict[str, Array]"]):
    """The answer to a request: a `concurrent.futures.Future` whose result is the outputs by name.

    What waits for such futures (`concurrent.futures.wait`, `asyncio.wrap_future`) takes it. Callbacks run on the thread of
    the batcher that tells of all ends: they must not wait for other futures, and long work belongs elsewhere.
    """

    def __init__(self, results: Callable[[list[_llmc.Tensor]], dict[str, Array]]) -> None:
        super().__init__()
        self._to_results = results
        self._request: _llmc.Request | None = None

    def cancel(self) -> bool:
        """Asks for the end of the request. False if it has ended otherwise. A run under way reads its inputs until its end."""
        if self._request is not None and not self.done():
            self._request.cancel()
        return not self.done() or self.cancelled()

    def result(self, timeout: float | None = None) -> dict[str, Array]:
        """The outputs, once they are there; raises what went wrong, or TimeoutError after `timeout` seconds."""
        self._check_process()
        return super().result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """What went wrong, once the request has ended; None if nothing."""
        self._check_process()
        return super().exception(timeout)

    def _check_process(self) -> None:
        if self._request is not None and not self.done():
            self._request.check_process()

    def _finish(self, status: int, message: str, reason: str, outputs: list[_llmc.Tensor]) -> None:
        """The end of the request; the extension calls it once."""
        if status == Status.CANCELLED:
            super().cancel()
            self.set_running_or_notify_cancel()
        elif status == Status.OK:
            self.set_result(self._to_results(outputs))
        else:
            self.set_exception(make(status, message, reason))
