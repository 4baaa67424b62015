"""The two forms of an entry: scores of one answer, or a verdict on two."""

import hashlib
from difflib import get_close_matches
from typing import Any, NamedTuple

from normalizer.containers.conversions import MISSING, Read, Scope, ValueReader
from normalizer.containers.readers.rows import MAX_ROW_BYTES, UnreadableContainer
from normalizer.containers.values import TOO_LONG, fetch, plain_pointer, reader, reads_row_alone, scalar_text
from normalizer.documents.pointers import escape
from normalizer.errors import UnusableDocument


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


_PROMPT = "judge_prompt"
_SINGLE = ("total", "notes", "self_judged")
_RUN = ("eval_id", "run_id", "created_at", "judge_prompt_version", "judge_version", "judge_settings", _PROMPT)
_NAMES = (*_RUN, "judge_model", "generator_model")


class Content(NamedTuple):
    """The fields of an entry, the run metadata of its row, and the evaluated text where it is declared."""

    value: dict[str, Any]
    metadata: dict[str, Any]
    answer: str | None = None


class ScoresForm:
    """Entries of single scores, as `fields` declares them."""

    verdict_at = "/scores"
    """Where an entry has the verdict, which is to blame where the judge's reply cannot be used."""

    def __init__(self, fields: dict[str, Any], key: list[str]) -> None:
        self._file = _field(fields["file"], "/file")
        grouped = {
            group: {name: _field(given, f"/{group}/{escape(name)}") for name, given in fields.get(group, {}).items()}
            for group in ("scores", "evidence", "factors")
        }
        self._scores, self._evidence, self._factors = (list(grouped[name].items()) for name in grouped)
        single = {name: _field(fields[name], f"/{name}") for name in (*_NAMES, *_SINGLE) if name in fields}
        self._total, self._notes, self._label = (single.get(name) for name in _SINGLE)
        self._answer = _field(fields["answer"], "/answer") if "answer" in fields else None
        self._names = [(name, single[name]) for name in _NAMES if name in single]
        known = {"file", "judge_model", "generator_model", *grouped["factors"]}
        for name in key:
            if name not in known:
                near = get_close_matches(name.removeprefix("factors."), sorted(known), 1)
                hint = f"; did you mean {near[0]}?" if near else ""
                raise UnusableDocument(
                    f"the dialect's /key names {name!r}, which is no field or factor of its entries: the names are "
                    f"{', '.join(sorted(known))}{hint}"
                )

    def content(self, made: EntryBuilder) -> Content:
        """Read all fields."""
        value: dict[str, Any] = {}
        if (file := made.text(self._file)) is not None:
            value["file"] = file
        value["scores"] = {name: score for name, field in self._scores if (score := made.score(field)) is not None}
        evidence = {name: text for name, field in self._evidence if (text := made.text(field)) is not None}
        if evidence:
            value["evidence"] = evidence
        if self._total is not None and (total := made.score(self._total)) is not None:
            value["total"] = total
        if self._notes is not None and (notes := made.text(self._notes)) is not None:
            value["notes"] = notes
        read = {name: text for name, field in self._names if (text := made.text(field)) is not None}
        metadata: dict[str, Any] = _digest_prompt(read)
        if self._label is not None:
            label = made.read(self._label)
            if type(label) in (dict, list):
                made.problems.append(Problem("entry_field_invalid", "/self_judged", "self_judged must be a boolean"))
            elif label is not MISSING and label is not None:
                metadata["self_judged"] = label
        factors = {name: level for name, field in self._factors if (level := made.text(field)) is not None}
        if factors:
            metadata["factors"] = factors
        return Content(value, metadata, made.answer(self._answer) if self._answer is not None else None)


class _Texts:
    """Several texts of an entry. Those that come from the row alone are read once for all entries of the row."""

    def __init__(self, fields: dict[str, Field]) -> None:
        self._fields = fields
        self._of_row = all(field.of_row for field in fields.values())
        self._row: Any = None
        self._known: tuple[dict[str, str], list[RecordedStep], list[Problem]] = ({}, [], [])

    def read(self, made: EntryBuilder) -> dict[str, str]:
        """The texts that are there, by name. The caller must not change the result."""
        if not self._fields:
            return {}
        if self._of_row and made.row is self._row:
            texts, steps, problems = self._known
            made.steps += steps
            made.problems += problems
            return texts
        steps_before, problems_before = len(made.steps), len(made.problems)
        texts = {name: text for name, field in self._fields.items() if (text := made.text(field)) is not None}
        if self._of_row:
            self._row = made.row
            self._known = (texts, made.steps[steps_before:], made.problems[problems_before:])
        return texts


class ComparisonForm:
    """Comparisons of two answers, as `comparison` declares them."""

    verdict_at = "/verdict"

    def __init__(self, declared: dict[str, Any]) -> None:
        self._sides, self._order, self._late = (
            _Texts({name: _comparison_field(declared, name) for name in names if name in declared})
            for names in (("item", "a", "b"), ("order",), ("criterion", "judge"))
        )
        self._verdict = _comparison_field(declared, "verdict") if "verdict" in declared else None
        self._winner = Field(declared["winner"], "/verdict", "/comparison/winner") if "winner" in declared else None
        self._scores = _both(declared, "scores", "/verdict")
        self._about = declared.get("verdict_about")
        self._repeat = _comparison_field(declared, "repeat") if "repeat" in declared else None
        self._own = _comparison_field(declared, "own_output") if "own_output" in declared else None
        self._levels = _Texts(
            {
                name: Field(given, f"/levels/{escape(name)}", f"/comparison/factors/{escape(name)}")
                for name, given in declared.get("factors", {}).items()
            }
        )
        self._length = _both(declared, "length", "/length")
        self._evidence = _Texts(_both(declared, "evidence", "/evidence"))
        self._notes = _comparison_field(declared, "notes") if "notes" in declared else None
        self._names = _Texts({name: _comparison_field(declared, name) for name in _RUN if name in declared})

    def content(self, made: EntryBuilder) -> Content:
        """Read all fields, in the order in which a record has them."""
        value: dict[str, Any] = {**self._sides.read(made)}
        if self._verdict is not None and (verdict := made.score(self._verdict)) is not None:
            value["verdict"] = verdict
        if self._winner is not None and (name := made.text(self._winner)) is not None:
            value["verdict"] = _side_of(name, value, made)
        if self._scores and (scores := _numbers(made, self._scores)):
            value["verdict"] = scores
        value |= self._order.read(made)
        if self._about is not None:
            value["verdict_about"] = self._about
        if self._repeat is not None and (repeat := made.score(self._repeat)) is not None:
            value["repeat"] = repeat
        value |= self._late.read(made)
        if self._own is not None and (own := made.read(self._own)) is not MISSING and own is not None:
            value["own_output"] = own
        if levels := self._levels.read(made):
            value["levels"] = levels
        if self._length and (length := _numbers(made, self._length)):
            value["length"] = length
        if evidence := self._evidence.read(made):
            value["evidence"] = evidence
        if self._notes is not None and (notes := made.text(self._notes)) is not None:
            value["notes"] = notes
        return Content(value, _digest_prompt(self._names.read(made)))


def _digest_prompt(read: dict[str, str]) -> dict[str, Any]:
    """Return metadata of a row with the digest of the prompt in place of the prompt."""
    if _PROMPT not in read:
        return read
    digest = hashlib.sha256(read[_PROMPT].encode("utf-8", "surrogatepass")).hexdigest()
    return {name: text for name, text in read.items() if name != _PROMPT} | {"judge_prompt_sha256": digest}


def _side_of(name: str, sides: dict[str, Any], made: EntryBuilder) -> str:
    """Return which side has that name; the name itself if it is neither's. A name of both is blamed."""
    found = [side for side in "ab" if sides.get(side) == name]
    if len(found) == 2:
        made.problems.append(Problem("not_declared", "/verdict", f"both answers are of {name!r}: declare a verdict"))
    elif found:
        made.steps[-1] = made.steps[-1]._replace(how=f"{made.steps[-1].how} name".strip())
        return found[0]
    return name


def _field(declared: dict[str, Any], put: str) -> Field:
    return Field(declared, put, f"/fields{put}")


def _comparison_field(declared: dict[str, Any], name: str) -> Field:
    return Field(declared[name], f"/{name}", f"/comparison/{name}")


def _both(declared: dict[str, Any], name: str, put: str) -> dict[str, Field]:
    """The fields of A and B, where the dialect declares them."""
    given = declared.get(name, {})
    return {side: Field(given[side], f"{put}/{side}", f"/comparison/{name}/{side}") for side in given}


def _numbers(made: EntryBuilder, fields: dict[str, Field]) -> dict[str, Any]:
    return {name: number for name, field in fields.items() if (number := made.score(field)) is not None}
