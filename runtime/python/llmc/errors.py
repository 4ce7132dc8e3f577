"""What goes wrong, as exceptions: each status of the C API has a class, and `Error` is the base of all."""

from __future__ import annotations

import enum


class Status(enum.IntEnum):
    """The statuses of the C API (llmc.h)."""

    OK = 0
    INVALID_ARGUMENT = 1
    SHAPE = 2
    IO = 3
    INVALID_PLAN = 4
    INCOMPATIBLE = 5
    DATA = 6
    OUT_OF_MEMORY = 7
    CANCELLED = 8
    INTERNAL = 9
    REJECTED = 10
    DEADLINE = 11


class Error(Exception):
    """Base of all errors of llmc. The message names the ONNX node, input or option."""

    status: Status = Status.INTERNAL
    reason: str = ""
    """Why a batcher ended a request so, as in 'queue_full'; "" of other errors."""


class InvalidArgumentError(Error, ValueError):
    """An argument is wrong: a name that is not known, an input that is missing, what is no tensor."""

    status = Status.INVALID_ARGUMENT


class ShapeError(Error, ValueError):
    """Rank, element type or sizes of an input do not fit the model, or each other."""

    status = Status.SHAPE


class FileError(Error):
    """A file can not be opened, read or mapped."""

    status = Status.IO


class InvalidPlanError(Error):
    """Not an artifact, or a damaged one."""

    status = Status.INVALID_PLAN


class IncompatibleError(Error):
    """A sound artifact for another version of llmc, processor or device."""

    status = Status.INCOMPATIBLE


class DataError(Error, ValueError):
    """The values of the inputs ask for what can not be, such as an index out of range."""

    status = Status.DATA


class OutOfMemoryError(Error, MemoryError):
    """Memory was not enough."""

    status = Status.OUT_OF_MEMORY


class CancelledError(Error):
    """The run was cancelled."""

    status = Status.CANCELLED


class InternalError(Error):
    """A fault of the runtime or of the compiler."""

    status = Status.INTERNAL


class RejectedError(Error):
    """A batcher does not take the request, or no longer: it is full or closing, or the request waited too long."""

    status = Status.REJECTED


class DeadlineError(Error, TimeoutError):
    """The deadline of a request has passed, or could not be kept."""

    status = Status.DEADLINE


class CompileError(Error):
    """The compiler is not there, or refuses the model; its message is part of this one."""

    status = Status.INVALID_ARGUMENT


_CLASSES: dict[int, type[Error]] = {
    kind.status: kind
    for kind in (InvalidArgumentError, ShapeError, FileError, InvalidPlanError, IncompatibleError, DataError, OutOfMemoryError,
                 CancelledError, InternalError, RejectedError, DeadlineError)
}


def make(status: int, message: str, reason: str = "") -> Error:
    """The exception of a status; the extension calls it."""
    error = _CLASSES.get(status, InternalError)(message)
    error.reason = reason
    return error
