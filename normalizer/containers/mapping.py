"""Map rows to entries, as a dialect declares. Validity is checked elsewhere."""

import io
from collections.abc import Iterator
from typing import Any, NamedTuple

from normalizer.containers import reply
from normalizer.containers.conversions import MISSING, Scope, Star
from normalizer.containers.forms import ComparisonForm, EntryBuilder, Problem, RecordedStep, ScoresForm
from normalizer.containers.readers.opening import open_container
from normalizer.containers.readers.rows import Row, UnreadableContainer
from normalizer.containers.values import fetch, matcher, reader, scalar_text
from normalizer.documents.pointers import escape, steps_of
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


class MappedEntry(NamedTuple):
    """An entry made from a row."""

    value: dict[str, Any]
    metadata: dict[str, Any]
    steps: tuple[RecordedStep, ...]
    problems: list[Problem]
    part: str
    """The pointer, from the row, of the part that the entry is made from; empty for the whole row."""
    answer: str | None = None
    """The text that was evaluated, where the dialect declares it."""


class Mapping:
    """The declarations of a dialect about rows, compiled."""

    def __init__(self, dialect: dict[str, Any], joined: str | None = None) -> None:
        self.name: str = dialect["name"]
        self.key: list[str] = dialect.get("key", ["file"])
        self._select = [matcher(condition) for condition in dialect.get("select", [])]
        self._select_part = [matcher(condition) for condition in dialect.get("select_part", [])]
        self._splits = (
            [steps_of(at) for at in (dialect["split"], *dialect.get("else_split", []))] if "split" in dialect else []
        )
        self._split_at = " or ".join([dialect.get("split", ""), *dialect.get("else_split", [])])
        self._cut: str | None = dialect.get("split_text")
        if self._cut is not None and any(steps[-1:] != ["*"] for steps in self._splits):
            raise UnusableDocument("the dialect's /split_text goes with a split that ends with /*")
        self._not_parts = frozenset(dialect.get("members_but", []))
        _check_stars(dialect, min((steps.count("*") for steps in self._splits), default=0))
        self._parts = [(at, steps_of(at)) for at in dialect.get("parts", [])]
        self._reply = dialect.get("reply")
        self._reply_steps = steps_of(self._reply["at"]) if self._reply else []
        self._joined = Joined(dialect["join"], joined) if "join" in dialect and joined is not None else None
        self._form: ScoresForm | ComparisonForm
        if "comparison" in dialect:
            self._form = ComparisonForm(dialect["comparison"])
        else:
            self._form = ScoresForm(dialect["fields"], self.key)

    def selects(self, value: Any) -> bool:
        """Whether a row holds entries."""
        return all(matches(value) for matches in self._select)

    def entries(self, row: Row, document: Any) -> Iterator[MappedEntry | None]:
        """The entries of a row that was read, and None for each part that `select_part` leaves out; at least one."""
        replied, how, problems = self._read_reply(row.value)
        first = [RecordedStep(self._reply["at"], "reply:", how)] if self._reply and how else []
        whole = Scope(row.value, MISSING, document, replied, "", place=row.pointer.rpartition("/")[2])
        for pointer, steps in self._parts:
            part = fetch(row.value, steps)
            if not all(matches(part) for matches in self._select_part):
                yield None
                continue
            yield self._make_entry(whole._replace(part=part, key=steps[-1]), first, problems, pointer)
        if self._parts:
            return
        if not self._splits:
            yield self._make_entry(whole, first, problems, "")
            return
        count = 0
        for part in self._split_parts(row.value):
            count += 1
            if not all(matches(part.value) for matches in self._select_part):
                yield None
                continue
            scope = Scope(row.value, part.value, document, replied, part.key, None, part.stars, whole.place)
            cut = [RecordedStep(part.pointer, "part:", f"piece {part.key}")] if part.is_piece else []
            yield self._make_entry(scope, [*first, *cut], problems, part.pointer)
        if count == 0:
            message = f"nothing is at {self._split_at}, where the dialect splits a row into entries"
            split = Problem("judge_failed", self._form.verdict_at, message)
            yield self._make_entry(whole, first, [*problems, split], "")

    def _split_parts(self, row: Any) -> Iterator["_Part"]:
        """The parts at the first place of a row that has some; else its members, where the dialect names the others."""
        count = 0
        for steps in self._splits:
            for part in _matches(row, steps, "", (), self._cut):
                count += 1
                yield part
            if count:
                return
        if self._not_parts and type(row) is dict:
            for name in row:
                if name not in self._not_parts:
                    yield _Part(f"/{escape(name)}", name, name, ())

    def _read_reply(self, value: Any) -> tuple[Any, str, list[Problem]]:
        if self._reply is None:
            return MISSING, "", []
        text = fetch(value, self._reply_steps)
        if type(text) is not str:
            what = "is not there" if text is MISSING else "is no text"
            return (
                MISSING,
                "",
                [Problem("judge_failed", self._form.verdict_at, f"the reply at {self._reply['at']} {what}")],
            )
        found = reply.read(text, self._reply.get("unwrap", []))
        if found.declaration:
            message = f'{found.problem}: declare "unwrap": ["{found.declaration}"] in the dialect'
            return MISSING, "", [Problem("not_declared", self._form.verdict_at, message)]
        if found.problem:
            return MISSING, "", [Problem("judge_failed", self._form.verdict_at, found.problem)]
        return found.value, f"unwrap {found.how}" if found.how else "reply", []

    def _make_entry(self, scope: Scope, steps: list[RecordedStep], problems: list[Problem], part: str) -> MappedEntry:
        if self._joined is not None:
            partner, name = self._joined.partner(scope)
            scope = scope._replace(joined=partner)
            if partner is MISSING:
                message = f"no row of the joined file has the key {name}" if name else "it has no key to join by"
                problems = [*problems, Problem("entry_field_missing", "", message)]
        made = EntryBuilder(scope, steps, problems)
        content = self._form.content(made)
        found = made.problems
        if any(problem.pointer == self._form.verdict_at for problem in problems):
            # The verdict as a whole is blamed, so its single scores need not be.
            found = problems + [one for one in found[len(problems) :] if one.code != "judge_failed"]
        return MappedEntry(content.value, content.metadata, tuple(made.steps), found, part, content.answer)


def _check_stars(dialect: Any, count: int) -> None:
    """Refuse a dialect that names more `*` than its `split` has."""
    if isinstance(dialect, list):
        for item in dialect:
            _check_stars(item, count)
    elif isinstance(dialect, dict):
        if "star" in dialect and ("key" in dialect or "at" in dialect) and int(dialect["star"]) > count:
            message = f"the dialect names the * number {dialect['star']}, and its /split has {count} of them"
            raise UnusableDocument(message)
        for key, inner in dialect.items():
            if key != "rubric":
                _check_stars(inner, count)


class _Part(NamedTuple):
    """A part of a row that `split` names."""

    pointer: str
    key: str
    value: Any
    stars: tuple[Star, ...]
    is_piece: bool = False
    """Whether it is a piece of a text."""


def _matches(
    value: Any, steps: list[str], pointer: str, stars: tuple[Star, ...], cut: str | None = None
) -> Iterator[_Part]:
    """Everything that the steps lead to, in the order of the row; with `cut`, pieces of a text at their end."""
    if not steps:
        yield _Part(pointer, steps_of(pointer)[-1] if pointer else "", value, stars)
        return
    items: Any = ()
    if steps[0] == "**":
        yield from _matches(value, steps[1:], pointer, stars, cut)
    elif steps == ["*"] and cut is not None and type(value) is str:
        for place, piece in enumerate(value.split(cut)):
            text = piece.strip()
            yield _Part(pointer, str(place), text, (*stars, Star(str(place), text, pointer)), is_piece=True)
    elif steps == ["*"] and type(value) not in (dict, list):
        yield _Part(pointer, "0", value, (*stars, Star(None, value, pointer)))
    if type(value) is dict:
        items = value.items()
    elif type(value) is list:
        items = ((str(index), inner) for index, inner in enumerate(value))
    for key, inner in items:
        at = f"{pointer}/{escape(key)}"
        if steps[0] == "**":
            yield from _matches(inner, steps, at, stars, cut)
        elif steps[0] == "*":
            yield from _matches(inner, steps[1:], at, (*stars, Star(key, inner, at)), cut)
        elif steps[0] == key:
            yield from _matches(inner, steps[1:], at, stars, cut)
