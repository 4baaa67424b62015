"""Make one entry: read fields from a row, and record steps and problems."""

from typing import Any, NamedTuple

from normalizer.containers.readers.rows import MAX_ROW_BYTES, UnreadableContainer
from normalizer.containers.scope import MISSING, Read, Scope, ValueReader
from normalizer.containers.values import TOO_LONG, fetch, plain_pointer, reader, reads_row_alone, scalar_text


class Problem(NamedTuple):
    """Why a field could not be made: a reason whose pointer is relative to the entry."""

    code: str
    pointer: str
    message: str


class RecordedStep(NamedTuple):
    """A value that was taken and where it was put."""

    take: str
    put: str
    how: str


class Field:
    """A field of the entry: how it is read, and the step that is recorded where it is copied as it stands.

    `at` names its declaration in errors.
    """

    __slots__ = ("of_part", "of_row", "put", "read", "step", "steps")

    def __init__(self, declared: dict[str, Any], put: str, at: str) -> None:
        self.put = put
        self.read: ValueReader = reader(declared, at)
        simple = plain_pointer(declared)
        self.steps = simple.steps if simple is not None else ()
        self.of_part = simple is not None and simple.of_part
        self.step = RecordedStep(simple.take, put, "") if simple is not None else None
        self.of_row = reads_row_alone(declared)
        """Whether it is the same for all entries of a row."""


class EntryBuilder:
    """An entry while it is made: the fields read so far, and problems."""

    def __init__(self, scope: Scope, steps: list[RecordedStep], problems: list[Problem]) -> None:
        self._scope = scope
        self.row = scope.row
        self.steps = list(steps)
        self.problems = list(problems)
        self._room = MAX_ROW_BYTES
        """Characters that the entry's texts may still take: a dialect may name one long text a thousand times."""

    def read(self, field: Field) -> Any:
        """The value, or `MISSING`."""
        if field.step is not None:
            scope = self._scope
            value = fetch(scope.part if field.of_part else scope.row, field.steps)
            if value is not MISSING:
                self.steps.append(field.step)
            return value
        found: Read = field.read(self._scope)
        if found.failed:
            at = f" at {found.take}" if found.take and found.take != "part:" else ""
            self.problems.append(Problem("judge_failed", field.put, f"the judge gave no verdict: {found.failed}{at}"))
            self.steps.append(RecordedStep(found.take, field.put, "failed"))
        elif found.value is not MISSING or found.how == "omitted":
            self.steps.append(RecordedStep(found.take, field.put, found.how))
        return found.value

    def score(self, field: Field) -> Any:
        """Return a score unchanged; None if there is no score to copy."""
        value = self.read(field)
        if value is MISSING:
            return None
        if value is None or type(value) is bool:
            said = "null" if value is None else "true" if value else "false"
            wanted = '"failed": [null]' if value is None else '"booleans": true, or list it under "failed",'
            message = f"it is {said}, which is no score: declare {wanted} for it in the dialect"
            self.problems.append(Problem("not_declared", field.put, message))
            return None
        return value

    def answer(self, field: Field) -> str | None:
        """The evaluated text, or None where it is no text. It is no field of the record, so no step is noted."""
        value = field.read(self._scope).value
        return value if type(value) is str else None

    def text(self, field: Field) -> str | None:
        """A text; numbers and booleans become their spelling, null counts as absent."""
        value = self.read(field)
        if type(value) is str:
            self._room -= len(value)
            if self._room < 0:
                raise UnreadableContainer(TOO_LONG)
            return value
        if value is MISSING or value is None:
            return None
        text = scalar_text(value)
        if text is None:
            kind = "a list" if type(value) is list else "an object"
            message = f"it is {kind}, where text is wanted: point into it"
            self.problems.append(Problem("not_declared", field.put, message))
        return text
