"""Cursors, with which a request continues where a cut result stopped. The server keeps no state for them.

A cursor is the position with a digest of the operation, its arguments and the position. A cursor that was changed or
belongs to another request is refused.
"""

import base64
import binascii
import hashlib
import json

from contract_spec.model import Model

from zeno.errors import InvalidCursor

_SEAL_BYTES = 9
# Besides the cursor itself, arguments of list_files: a cursor goes with one value of `sort` and `tree` alone, and
# `depth` belongs to `tree`. Cursors that traces hold from before there were these arguments stay good.
# So are `scope` and `callers`, which change no position, and `max_chars`, whose default for models depends on the call.
_NOT_SEALED = {"cursor", "sort", "tree", "depth", "scope", "callers", "max_chars"}


def issue(op: str, args: Model, position: str) -> str:
    """Return the cursor for a position in the result of a request."""
    return base64.urlsafe_b64encode(_seal(op, args, position) + position.encode()).rstrip(b"=").decode()


def position(op: str, args: Model, cursor: str) -> str:
    """Return the position in a cursor. Raises InvalidCursor if it was changed or belongs to another request."""
    try:
        data = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars="-_", validate=True)
        found = data[_SEAL_BYTES:].decode()
    except (binascii.Error, ValueError):
        raise InvalidCursor("args.cursor is garbled; send it as it was received") from None
    # Compare the encoded cursors: several encodings decode to the same bytes.
    if issue(op, args, found) != cursor:
        raise InvalidCursor("args.cursor belongs to a request with other arguments; change nothing but the cursor")
    return found


def number(text: str) -> int:
    """Return a position as a number. Raises InvalidCursor: a forged cursor can hold any text."""
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise InvalidCursor("args.cursor is made up; send one as it was received")
    return int(text)


def _seal(op: str, args: Model, position: str) -> bytes:
    same = args.model_dump(mode="json", exclude=_NOT_SEALED)
    return hashlib.sha256(json.dumps([op, same, position], sort_keys=True).encode()).digest()[:_SEAL_BYTES]
