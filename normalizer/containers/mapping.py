"""Rows become entries in our terms, by the `fields` of a dialect. Whether they are valid is not asked here."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from normalizer.containers import reply
from normalizer.containers.joining import Joined
from normalizer.containers.readers.rows import Row
from normalizer.containers.values import MISSING, Read, Reader, Scope, fetch, matcher, reader, row_member, text_of
from normalizer.documents.pointers import escape, steps_of
from normalizer.errors import UnusableDocument

_SINGLE = ("total", "notes", "self_judged")
_NAMES = ("eval_id", "run_id", "created_at", "judge_prompt_version", "judge_model", "generator_model")


class Problem(NamedTuple):
    """Why a field could not be made: a reason whose pointer is still one of the entry's."""

    code: str
    pointer: str
    message: str


class Step(NamedTuple):
    """A value that was taken and where it was put."""

    take: str
    put: str
    how: str


class Made(NamedTuple):
    """An entry made from a row."""

    value: dict[str, Any]
    metadata: dict[str, Any]
    steps: tuple[Step, ...]
    problems: list[Problem]
    part: str
    """The pointer, from the row, of the part that the entry is made from; empty for the whole row."""
    answer: str | None = None
    """The text that was evaluated, where the dialect declares it."""


class Mapping:
    """What a dialect declares about rows, ready to use."""

    def __init__(self, dialect: dict[str, Any], joined: str | None = None) -> None:
        fields = dialect["fields"]
        self.name: str = dialect["name"]
        self.key: list[str] = dialect.get("key", ["file"])
        self._select = [matcher(condition) for condition in dialect.get("select", [])]
        self._select_part = [matcher(condition) for condition in dialect.get("select_part", [])]
        self._split = steps_of(dialect["split"]) if "split" in dialect else None
        self._split_at = dialect.get("split", "")
        self._reply = dialect.get("reply")
        self._reply_steps = steps_of(self._reply["at"]) if self._reply else []
        self._joined = Joined(dialect["join"], joined) if "join" in dialect and joined is not None else None
        self._file = _Field(fields["file"], "/file")
        grouped = {
            group: {name: _Field(given, f"/{group}/{escape(name)}") for name, given in fields.get(group, {}).items()}
            for group in ("scores", "evidence", "factors")
        }
        self._scores, self._evidence, self._factors = (list(grouped[name].items()) for name in grouped)
        single = {name: _Field(fields[name], f"/{name}") for name in (*_NAMES, *_SINGLE) if name in fields}
        self._total, self._notes, self._label = (single.get(name) for name in _SINGLE)
        self._answer = _Field(fields["answer"], "/answer") if "answer" in fields else None
        self._names = [(name, single[name]) for name in _NAMES if name in single]
        known = {"file", "judge_model", "generator_model", *grouped["factors"]}
        for name in self.key:
            if name not in known:
                raise UnusableDocument(f"the dialect's /key names {name!r}, which is no field or factor of its entries")

    def selects(self, value: Any) -> bool:
        """Whether a row holds entries."""
        return all(matches(value) for matches in self._select)

    def entries(self, row: Row, document: Any) -> Iterator[Made | None]:
        """The entries of a row that was read, and None for each part that `select_part` leaves out; at least one."""
        replied, how, problems = self._replied(row.value)
        first = [Step(self._reply["at"], "reply:", how)] if self._reply and how else []
        if self._split is None:
            yield self._made(Scope(row.value, MISSING, document, replied, ""), first, problems, "")
            return
        count = 0
        for pointer, key, part in _matches(row.value, self._split, ""):
            count += 1
            if not all(matches(part) for matches in self._select_part):
                yield None
                continue
            yield self._made(Scope(row.value, part, document, replied, key), first, problems, pointer)
        if count == 0:
            message = f"nothing is at {self._split_at}, where the dialect splits a row into entries"
            split = Problem("judge_failed", "/scores", message)
            yield self._made(Scope(row.value, MISSING, document, replied, ""), first, [*problems, split], "")

    def _replied(self, value: Any) -> tuple[Any, str, list[Problem]]:
        if self._reply is None:
            return MISSING, "", []
        text = fetch(value, self._reply_steps)
        if type(text) is not str:
            what = "is not there" if text is MISSING else "is no text"
            return MISSING, "", [Problem("judge_failed", "/scores", f"the reply at {self._reply['at']} {what}")]
        found = reply.read(text, self._reply.get("unwrap", []))
        if found.declaration:
            message = f'{found.problem}: declare "unwrap": ["{found.declaration}"] in the dialect'
            return MISSING, "", [Problem("not_declared", "/scores", message)]
        if found.problem:
            return MISSING, "", [Problem("judge_failed", "/scores", found.problem)]
        return found.value, f"unwrap {found.how}" if found.how else "reply", []

    def _made(self, scope: Scope, steps: list[Step], problems: list[Problem], part: str) -> Made:
        if self._joined is not None:
            partner, name = self._joined.partner(scope)
            scope = scope._replace(joined=partner)
            if partner is MISSING:
                message = f"no row of the joined file has the key {name}" if name else "it has no key to join by"
                problems = [*problems, Problem("entry_field_missing", "", message)]
        made = _Making(scope, steps, problems)
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
        metadata: dict[str, Any] = {name: text for name, field in self._names if (text := made.text(field)) is not None}
        if self._label is not None:
            label = made.read(self._label)
            if label is not MISSING and label is not None:
                metadata["self_judged"] = label
        factors = {name: level for name, field in self._factors if (level := made.text(field)) is not None}
        if factors:
            metadata["factors"] = factors
        answer = made.answer(self._answer) if self._answer is not None else None
        return Made(value, metadata, tuple(made.steps), made.problems, part, answer)


class _Field:
    """A field of the entry: how it is read, and the step that is recorded where it is a member of the row."""

    __slots__ = ("member", "put", "read", "step")

    def __init__(self, declared: dict[str, Any], put: str) -> None:
        self.put = put
        self.read: Reader = reader(declared, f"/fields{put}")
        simple = row_member(declared)
        self.member = simple.name if simple is not None else None
        self.step = Step(simple.take, put, "") if simple is not None else None


class _Making:
    """One entry in the making: what was read so far, and what went wrong."""

    def __init__(self, scope: Scope, steps: list[Step], problems: list[Problem]) -> None:
        self._scope = scope
        self.steps = list(steps)
        self.problems = list(problems)

    def read(self, field: _Field) -> Any:
        """The value, or `MISSING`."""
        row = self._scope.row
        if field.step is not None and type(row) is dict:
            if field.member not in row:
                return MISSING
            self.steps.append(field.step)
            return row[field.member]
        found: Read = field.read(self._scope)
        if found.failed:
            at = f" at {found.take}" if found.take else ""
            self.problems.append(Problem("judge_failed", field.put, f"the judge gave no verdict: {found.failed}{at}"))
            self.steps.append(Step(found.take, field.put, "failed"))
        elif found.value is not MISSING:
            self.steps.append(Step(found.take, field.put, found.how))
        return found.value

    def score(self, field: _Field) -> Any:
        """A score as it is; None where there is none to copy."""
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

    def answer(self, field: _Field) -> str | None:
        """The evaluated text, or None where it is no text. It is no field of the record, so no step is noted."""
        value = field.read(self._scope).value
        return value if type(value) is str else None

    def text(self, field: _Field) -> str | None:
        """A text; numbers and booleans become their spelling, null counts as absent."""
        value = self.read(field)
        if type(value) is str:
            return value
        if value is MISSING or value is None:
            return None
        text = text_of(value)
        if text is None:
            kind = "a list" if type(value) is list else "an object"
            message = f"it is {kind}, where text is wanted: point into it"
            self.problems.append(Problem("not_declared", field.put, message))
        return text


def _matches(value: Any, steps: list[str], pointer: str) -> Iterator[tuple[str, str, Any]]:
    """Pointer, last key and value of everything that the steps lead to."""
    if not steps:
        yield pointer, steps_of(pointer)[-1] if pointer else "", value
        return
    items: Any = ()
    if steps == ["*"] and value is not None and type(value) not in (dict, list):
        yield pointer, "0", value
    if type(value) is dict:
        items = value.items()
    elif type(value) is list:
        items = ((str(index), inner) for index, inner in enumerate(value))
    for key, inner in items:
        if steps[0] in ("*", key):
            yield from _matches(inner, steps[1:], f"{pointer}/{escape(key)}")
