"""The `source` of a record made from a row: its place, its text, and the steps that were taken."""

import base64
import hashlib

from normalizer.containers.entry_builder import RecordedStep
from normalizer.containers.mapping import MappedEntry
from normalizer.containers.readers.rows import Row
from normalizer.documents.lossless import dumps, quoted
from normalizer.documents.settings import Settings
from normalizer.screening.reasons import Reason
from normalizer.screening.records import dialect_members

MOST_KEPT = 4096
"""Metadata and steps kept for rows that have the same."""


class RowSources:
    """Writes the `source` of records, for the rows of one file."""

    def __init__(self, sha256: str, settings: Settings) -> None:
        self._named = dialect_members(settings, settings.stated_by_dialect())
        self._start = f'"source":{{"bundle_sha256":"{sha256}","index":'
        self._steps: dict[tuple[RecordedStep, ...], str] = {}

    def of_unreadable(self, index: int, row: Row) -> str:
        """The source of a row that cannot be read."""
        return f"{self._text(index, row, '', first=True)}}}"

    def of_entry(self, index: int, row: Row, made: MappedEntry, *, first: bool) -> str:
        """The source of an entry. `first`: it is the first of its row."""
        source = self._text(index, row, made.part, first=first, answer=made.answer)
        return f'{source},"dialect":{{{self._named},"steps":{self._steps_text(made.steps)}}}}}'

    def _text(self, index: int, row: Row, part: str, *, first: bool, answer: str | None = None) -> str:
        text = f'{self._start}{index},"pointer":{quoted(row.pointer + part)},"line":{row.line}'
        if row.member:
            text += f',"member":{quoted(row.member)}'
        if answer is not None:
            digest = hashlib.sha256(answer.encode("utf-8", "surrogatepass")).hexdigest()
            text += f',"answer_sha256":"{digest}"'
        if not first:
            return text
        if row.gap != ("\n" if index else ""):
            text += f',"gap":{quoted(row.gap)}'
        try:
            return f'{text},"text":{quoted(row.raw.decode("utf-8"))}'
        except UnicodeDecodeError:
            return f'{text},"bytes":"{base64.b64encode(row.raw).decode("ascii")}"'

    def _steps_text(self, steps: tuple[RecordedStep, ...]) -> str:
        text = self._steps.get(steps)
        if text is None:
            done = [{"take": s.take, "put": s.put} | ({"as": s.how} if s.how else {}) for s in steps]
            if len(self._steps) > MOST_KEPT:
                self._steps.clear()
            text = self._steps[steps] = dumps(done)
        return text


def unreadable(row: Row) -> Reason:
    """Why a row cannot be read."""
    where = f"member {row.member}" if row.member else f"line {row.line}"
    return Reason("row_unreadable", row.pointer, f"{where} cannot be read: {row.problem}")


def relocated(reasons: list[Reason], row: Row, made: MappedEntry) -> list[Reason]:
    """The reasons with pointers to where the values were written; to the part or row where there is none."""
    written = {step.put: step.take for step in made.steps}
    return [_placed(reason, row, made, written.get(reason.pointer, "")) for reason in reasons]


def _placed(reason: Reason, row: Row, made: MappedEntry, take: str) -> Reason:
    if take.startswith("/"):
        return reason._replace(pointer=row.pointer + take)
    if take.startswith("part:"):
        return reason._replace(pointer=row.pointer + made.part + take.removeprefix("part:"))
    return reason._replace(pointer=row.pointer + made.part)
