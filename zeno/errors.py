"""Errors that answer a request instead of a result: one class for each code of error.json.

In the order in which they can occur: a line that is not JSON (`InvalidJson`) or not a request (`InvalidRequest`); an
unknown operation (`UnknownOp`); invalid arguments (`InvalidArgs`, `InvalidPattern`, `InvalidCursor`); a path outside
the root (`OutsideRoot`), denied by the policy (`Denied`), missing (`NotFound`), not a text file (`NotAFile`), too large
(`FileTooLarge`) or not readable (`PermissionDenied`, `ObjectUnavailable`); a commit that is unknown (`UnknownRev`); an
answer over the limit (`ResponseTooLarge`) or over the session's budget (`BudgetExhausted`); a pattern that is too large
for the text (`PatternTooCostly`); a request over its time (`DeadlineExceeded`) or withdrawn (`Cancelled`); a log that
cannot be written (`TraceFailed`); and a bug (`InternalError`).
"""

import errno
import os
from typing import ClassVar


class ZenoError(Exception):
    """An error with its code. The message is one sentence for a person."""

    code: ClassVar[str]

    @staticmethod
    def restore(code: str, message: str) -> "ZenoError":
        """Return the error with this code and message, as another process reported it."""
        kind = next(kind for kind in ZenoError.__subclasses__() if kind.code == code)
        error = kind.__new__(kind)
        error.args = (message,)
        return error


class InvalidJson(ZenoError):
    """The line is not strict JSON."""

    code = "invalid_json"


class InvalidRequest(ZenoError):
    """The line is JSON, but no request envelope, or it is too long."""

    code = "invalid_request"


class UnknownOp(ZenoError):
    """No operation has that name."""

    code = "unknown_op"

    def __init__(self, op: str) -> None:
        super().__init__(f"unknown op: {op}")


class InvalidArgs(ZenoError):
    """An argument is missing, unknown, of the wrong type or out of range."""

    code = "invalid_args"


class InvalidPattern(ZenoError):
    """A regular expression that RE2 refuses."""

    code = "invalid_pattern"


class OutsideRoot(ZenoError):
    """A path that leaves the root. The message is the same whether or not anything is there."""

    code = "path_outside_root"

    def __init__(self, path: str) -> None:
        super().__init__(f"{path!r} is outside the root; give a path that stays under it")


class NotFound(ZenoError):
    """Nothing is at that path."""

    code = "not_found"

    def __init__(self, path: str, why: str = "nothing is at this path") -> None:
        super().__init__(f"{path!r}: {why}")
        self.why = why


class NotAFile(ZenoError):
    """The path leads to something that is no regular text file."""

    code = "not_a_file"

    def __init__(self, path: str, what: str) -> None:
        advice = "; list_files tells what is below it" if what == "a directory" else ""
        super().__init__(f"{path!r} is {what}, not a text file{advice}")
        self.what = what


class FileTooLarge(ZenoError):
    """The file is larger than the operation takes."""

    code = "file_too_large"

    def __init__(self, path: str, size: int, limit: int, instead: str, before: int = 0) -> None:
        """`before`: bytes that the request goes through before it comes to this file."""
        more = f" after {before} of this request" if before else ""
        super().__init__(f"{path!r} has {size} bytes{more}, and at most {limit} are looked at; {instead}")


class PermissionDenied(ZenoError):
    """The system does not let the server open it."""

    code = "permission_denied"

    def __init__(self, path: str, why: str = "permission denied") -> None:
        super().__init__(f"{path!r}: {why}")
        self.why = why


class ObjectUnavailable(PermissionDenied, ZenoError):
    """An object of a commit that is not in the repository or cannot be read, or a file of a submodule.

    Like a file that may not be read. ZenoError is named as a base too, so that it is found by its code.
    """

    code = "object_unavailable"


class UnknownRev(ZenoError):
    """A name that no commit has."""

    code = "unknown_rev"


class Denied(ZenoError):
    """The server's policy forbids the path. The message is the same whether or not anything is there."""

    code = "denied"

    def __init__(self, path: str) -> None:
        super().__init__(f"{path!r} is denied by the server's policy, whether or not it exists; ask for another path")

    @classmethod
    def of_rev(cls, rev: str) -> "Denied":
        """Return the error for a commit that the server does not serve, if there is such a commit."""
        error = cls(rev)
        error.args = (f"the server does not serve the commit {rev!r}, whether or not it exists; see revs in describe",)
        return error


class InvalidCursor(ZenoError):
    """A cursor that is garbled or belongs to other arguments."""

    code = "invalid_cursor"


class BudgetExhausted(ZenoError):
    """The session's budget does not cover the answer."""

    code = "budget_exhausted"


class ResponseTooLarge(ZenoError):
    """The answer would be longer than the response limit."""

    code = "response_too_large"


class DeadlineExceeded(ZenoError):
    """The request took longer than the server allows."""

    code = "deadline_exceeded"


class PatternTooCostly(ZenoError):
    """The regular expression is too large for the amount of text that it would search."""

    code = "pattern_too_costly"


class Cancelled(ZenoError):
    """The client withdrew the request. Only the trace records it; no answer is sent."""

    code = "cancelled"

    def __init__(self) -> None:
        super().__init__("the client withdrew the request")


class TraceFailed(ZenoError):
    """The request could not be logged, so it is not answered."""

    code = "trace_failed"


class InternalError(ZenoError):
    """A bug in the server; its traceback is on stderr."""

    code = "internal"

    def __init__(self) -> None:
        super().__init__("a bug in the server; its standard error has the traceback")


class CannotRun(Exception):
    """A command cannot run with these flags or files. Printed as one line; exit status 2."""


def lacks_descriptor(error: BaseException) -> str:
    """Return the system's words if the process or the system has no descriptor left, else nothing.

    That is no bug, and over when other descriptors are closed. Libraries wrap such an error in their own, so after any
    other error it is tried whether a descriptor can be had.
    """
    try:
        if not isinstance(error, OSError):
            os.close(os.dup(2))
    except OSError as refused:
        error = refused
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return os.strerror(error.errno)
    return ""
