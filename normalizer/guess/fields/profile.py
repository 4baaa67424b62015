"""The values of each field of the rows that were looked at."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from normalizer.containers.conversions import number, readable_by
from normalizer.documents.lossless import Number, exact_value
from normalizer.documents.pointers import escape
from normalizer.documents.rubric import MOST
from normalizer.guess.fields import names

MOST_FIELDS = 300
"""Fields that are profiled; keys that are data would make thousands of them."""
_DEPTH = 5
_SHORT_LIST = 4
"""Items of a list of objects that are looked into."""
_END = 40
"""Characters at the end of a text among which a number has to be."""
_LONG = 80
"""Characters of a text that is told apart by its hash."""


@dataclass(slots=True)
class FieldProfile:
    """The values of one field."""

    pointer: str
    rows: int = 0
    """FileRows that have the field."""
    kinds: Counter[str] = field(default_factory=Counter)
    """number, numeric (a number in text), text, boolean, null, numbers (a list of them), list."""
    values: Counter[Any] = field(default_factory=Counter)
    """Scalars as they are spelled; long texts by their hash."""
    characters: int = 0
    patterns: set[str] = field(default_factory=set)
    """How numbers are written that stand in text."""
    least: Decimal | None = None
    greatest: Decimal | None = None
    places: int = 0
    """The most decimal places of a number."""

    def add(self, value: Any) -> None:
        """Take note of a value."""
        self.rows += 1
        if type(value) is list:
            numeric = bool(value) and all(type(item) is Number for item in value)
            self.kinds["numbers" if numeric else "list"] += 1
            for item in value if numeric else ():
                self._count(item)
            return
        if value is None or type(value) is bool:
            self.kinds["null" if value is None else "boolean"] += 1
            self.values[value] += 1
            return
        self.characters += len(value)
        self.values[value if len(value) <= _LONG else hash(value)] += 1
        if type(value) is Number:
            self.kinds["number"] += 1
            self._count(value)
        elif value.strip().lower() in names.FAILURES:
            self.kinds["null"] += 1
        elif (name := _pattern(value)) and (found := number(value, name)) is not None:
            self.kinds["numeric"] += 1
            self.patterns.add(name)
            self._count(found)
        else:
            self.kinds["text"] += 1

    def _count(self, value: Number) -> None:
        exact = exact_value(value)
        if exact is None:
            return
        self.least = exact if self.least is None else min(self.least, exact)
        self.greatest = exact if self.greatest is None else max(self.greatest, exact)
        if exact.copy_abs() <= MOST:  # no scale reaches further, and arithmetic ends somewhere
            self.places = max(self.places, -int(exact.normalize().as_tuple().exponent))

    @property
    def said(self) -> int:
        """FileRows that have a value."""
        return self.rows - self.kinds["null"]

    @property
    def is_numeric(self) -> bool:
        """Whether nearly all values are numbers, written as such or as text; or many, beside one other word."""
        numbers = self.kinds["number"] + self.kinds["numeric"]
        if self.said == 0 or numbers >= 0.8 * self.said:
            return self.said > 0
        return 3 * numbers >= self.said and numbers + max(self._texts(), default=0) >= self.said

    def _texts(self) -> list[int]:
        """How often each text stands there that is no number."""
        return [count for value, count in self.values.items() if type(value) is str and not _pattern(value)]

    @property
    def is_boolean(self) -> bool:
        """Whether all values are true or false, written as such or as text."""
        said = {str(value).lower() for value in self.values if not is_failure(value)}
        return bool(said) and said <= {"true", "false"}

    @property
    def is_short(self) -> bool:
        """Whether its values are short texts, such as names."""
        return self.said > 0 and not self.kinds["list"] and self.characters <= 60 * self.said

    @property
    def is_unique(self) -> bool:
        """Whether no value stands twice."""
        return not self.kinds["null"] and len(self.values) == self.rows > 1

    def texts_or_booleans(self) -> list[Any]:
        """The values that are no failures."""
        return [value for value in self.values if not is_failure(value)]

    def texts(self) -> list[str]:
        """The texts and spellings that are values, in the order of their spelling."""
        return sorted(str(value) for value in self.values if not is_failure(value) and not isinstance(value, int))


def _pattern(text: str) -> str:
    """The name of the first pattern by which a text is a number; empty if it is none."""
    end = text[-_END:]
    if not any(char.isdigit() for char in end) or (len(text) > _LONG and "[" not in end):
        return ""
    return next(iter(readable_by(text)), "")


def is_failure(value: Any) -> bool:
    """Whether a value says that there is none."""
    return value is None or (type(value) is str and value.strip().lower() in names.FAILURES)


class Profile:
    """The fields of rows."""

    def __init__(self) -> None:
        self.fields: dict[str, FieldProfile] = {}
        self.rows: list[dict[str, Any]] = []
        self.unread_lists: set[str] = set()
        """Lists of objects that are too long to be looked into."""
        self.is_cut = False
        """Whether there are more fields than are looked at."""

    def add(self, row: dict[str, Any]) -> None:
        """Take note of a row."""
        self.rows.append(row)
        for pointer, value in self._leaves(row, "", 0):
            known = self.fields.get(pointer)
            if known is None:
                if len(self.fields) >= MOST_FIELDS:
                    self.is_cut = True
                    continue
                known = self.fields[pointer] = FieldProfile(pointer)
            known.add(value)

    def _leaves(self, value: Any, at: str, depth: int) -> Iterator[tuple[str, Any]]:
        items: Any
        if type(value) is dict:
            items = value.items()
        elif type(value) is list and value and type(value[0]) is dict:
            if len(value) > _SHORT_LIST:
                self.unread_lists.add(at)
                return
            items = ((str(index), inner) for index, inner in enumerate(value))
        else:
            yield at, value
            return
        if depth == _DEPTH or len(value) > MOST_FIELDS:
            self.is_cut = True
            return
        for key, inner in items:
            if not set("{}") & set(key):
                yield from self._leaves(inner, f"{at}/{escape(key)}", depth + 1)
