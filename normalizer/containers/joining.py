"""Rows of a second file, found by a key."""

import io
from typing import Any

from normalizer.containers.readers.opening import open_container
from normalizer.containers.readers.rows import UnreadableContainer
from normalizer.containers.scope import MISSING, Scope
from normalizer.containers.values import reader, scalar_text
from normalizer.errors import UnusableDocument


class Joined:
    """The rows of a second file by their keys, held in memory."""

    def __init__(self, declared: dict[str, Any], text: str) -> None:
        key = reader(declared["key"], "/join/key")
        self._by = reader(declared["by"], "/join/by")
        self._rows: dict[str, Any] = {}
        try:
            rows = list(open_container(io.BytesIO(text.encode()), {"container": [declared["container"]]}).rows())
        except UnreadableContainer as error:
            raise UnusableDocument(f"the joined file cannot be read: {error}") from None
        for row in rows:
            if row.problem:
                raise UnusableDocument(f"line {row.line} of the joined file cannot be read: {row.problem}")
            name = scalar_text(key(Scope(row.value, MISSING, None, MISSING, "")).value)
            if name is None:
                raise UnusableDocument(f"line {row.line} of the joined file has no key")
            if name in self._rows:
                raise UnusableDocument(
                    f"two rows of the joined file have the key {name}, the second at line {row.line}"
                )
            self._rows[name] = row.value

    def partner(self, scope: Scope) -> tuple[Any, str]:
        """The row with the key that an entry looks for, or `MISSING`; and the key."""
        name = scalar_text(self._by(scope).value)
        return (MISSING, "") if name is None else (self._rows.get(name, MISSING), name)
