"""Read a value of an entry from a row, as a dialect declares it."""

import re
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, NamedTuple

from normalizer.containers.number_text import number
from normalizer.documents.lossless import Number, dumps, exact_value
from normalizer.documents.pointers import escape, steps_of
from normalizer.errors import UnusableDocument

_WHERE = ("at", "template", "text", "key", "first")
_REFERENCE = re.compile(r"\{(?:(?:(part|document|reply|joined):)?((?:/[^{}]*)?)|(key))\}")
_FINE, _LARGE = Decimal("1e-300"), Decimal("1e12")
"""Numbers beyond these are left as they are, for the rubric to refuse."""
MISSING: Any = object()
"""The absent value."""


class Scope(NamedTuple):
    """Sources that the values of one entry are read from."""

    row: Any
    part: Any
    document: Any
    reply: Any
    key: str
    joined: Any = None


class Read(NamedTuple):
    """A value that was read."""

    value: Any
    """The value, or `MISSING`."""
    take: str
    """Where it stood."""
    how: str = ""
    """How it was read, where it is not copied as it stands."""
    failed: str = ""
    """Why the judge gave no verdict, where the dialect declares that this means it."""


ValueReader = Callable[[Scope], Read]


class RowMember(NamedTuple):
    """A member of the row that is copied as it stands, which most fields are: read without a function call."""

    name: str
    take: str


def row_member(declared: dict[str, Any]) -> RowMember | None:
    """The member that a declaration means, if it is that simple."""
    if declared.keys() != {"at"} or declared["at"].count("/") != 1:
        return None
    [name] = steps_of(declared["at"])
    return RowMember(name, declared["at"])


def reads_row_alone(declared: dict[str, Any]) -> bool:
    """Whether a value does not depend on the part of a row, nor on the document or a joined row."""
    if "first" in declared:
        return all(map(reads_row_alone, declared["first"]))
    if "template" in declared:
        return all(not match[1] and not match[3] for match in _REFERENCE.finditer(declared["template"]))
    return "key" not in declared and "member" not in declared and declared.get("of", "row") == "row"


def reader(declared: dict[str, Any], at: str) -> ValueReader:
    """The function that reads what a dialect declares. `at` names the declaration in errors."""
    given = [key for key in _WHERE if key in declared]
    if len(given) != 1:
        raise UnusableDocument(f"the dialect's {at} must have exactly one of {', '.join(_WHERE)}")
    found = _source(declared, given[0], at)
    failures = [comparable(value) for value in declared.get("failed", [])]
    absent = declared.get("absent", "omitted")
    convert = _conversion(declared, at)
    if not failures and absent == "omitted" and convert is None:
        return found

    def read(scope: Scope) -> Read:
        read = found(scope)
        if read.failed:
            return read
        if read.value is MISSING:
            return read._replace(failed="nothing is there") if absent == "failed" else read
        if failures and comparable(read.value) in failures:
            return Read(MISSING, read.take, failed=f"it is {dumps(read.value)}")
        return convert(read) if convert is not None else read

    return read


def comparable(value: Any) -> Any:
    """Equal for equal values: numbers by value, the rest by type and what they say."""
    if type(value) is Number:
        return ("number", exact_value(value))
    return (type(value).__name__, value if isinstance(value, (str, bool)) or value is None else dumps(value))


def scalar_text(value: Any) -> str | None:
    """A string as it is, a number or boolean as it is spelled; None for anything else."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return None


def fetch(value: Any, steps: list[str]) -> Any:
    """Return the value at the end of the steps, or `MISSING`."""
    for step in steps:
        if type(value) is dict:
            if step not in value:
                return MISSING
            value = value[step]
        elif type(value) is list and step.isascii() and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return MISSING
    return value


def _source(declared: dict[str, Any], kind: str, at: str) -> ValueReader:
    if kind == "template":
        return _template(declared["template"], at)
    if kind == "text":
        constant = Read(declared["text"], "", "text")
        return lambda _: constant
    if kind == "key":
        return lambda scope: Read(scope.key, "key")
    if kind == "first":
        options = [reader(option, f"{at}/first/{index}") for index, option in enumerate(declared["first"])]
        return lambda scope: _first(options, scope)
    return _pointer(declared)


def _first(options: list[ValueReader], scope: Scope) -> Read:
    """Return the first value that is present and not null (a failure counts as present), otherwise the last."""
    read = Read(MISSING, "")
    for option in options:
        read = option(scope)
        if read.failed or (read.value is not MISSING and read.value is not None):
            return read
    return read


def _pointer(declared: dict[str, Any]) -> ValueReader:
    steps, of = steps_of(declared["at"]), declared.get("of", "row")
    take = declared["at"] if of == "row" else f"{of}:{declared['at']}"
    place = Scope._fields.index(of)
    where = declared.get("where")
    if declared.get("member") == "part":
        return lambda scope: _named_by_part(scope, fetch(scope[place], steps), take)
    if where is None:
        return lambda scope: Read(fetch(scope[place], steps), take)
    condition = matcher(where)
    then = steps_of(declared.get("then", ""))

    def read(scope: Scope) -> Read:
        items = fetch(scope[place], steps)
        for index, item in enumerate(items if type(items) is list else []):
            if condition(item):
                return Read(fetch(item, then), f"{take}/{index}{declared.get('then', '')}")
        return Read(MISSING, take)

    return read


def _named_by_part(scope: Scope, value: Any, take: str) -> Read:
    if type(value) is not dict or type(scope.part) is not str:
        return Read(MISSING, take)
    return Read(value.get(scope.part, MISSING), f"{take}/{escape(scope.part)}")


def matcher(condition: dict[str, Any]) -> Callable[[Any], bool]:
    """Return a function that says whether a condition applies to a row or an item."""
    steps = steps_of(condition["at"])
    if "is" not in condition:
        return lambda value: fetch(value, steps) is not MISSING
    allowed = [comparable(value) for value in condition["is"]]

    def matches(value: Any) -> bool:
        found = fetch(value, steps)
        return found is not MISSING and comparable(found) in allowed

    return matches


def _template(template: str, at: str) -> ValueReader:
    parts: list[str | tuple[int, list[str]]] = []
    end = 0
    for match in _REFERENCE.finditer(template):
        parts.append(template[end : match.start()])
        of = "key" if match[3] else match[1] or "row"
        parts.append((Scope._fields.index(of), steps_of(match[2] or "")))
        end = match.end()
    parts.append(template[end:])
    if "{" in "".join(part for part in parts if isinstance(part, str)) or len(parts) == 1:
        raise UnusableDocument(f"the dialect's {at}: {template!r} must have pointers in braces, such as {{/id}}")

    def read(scope: Scope) -> Read:
        texts: list[str] = []
        for part in parts:
            text = part if isinstance(part, str) else scalar_text(fetch(scope[part[0]], part[1]))
            if text is None:
                return Read(MISSING, template, "template")
            texts.append(text)
        return Read("".join(texts), template, "template")

    return read


def _conversion(declared: dict[str, Any], at: str) -> Callable[[Read], Read] | None:
    """How text, labels, words, booleans, lengths and long fractions are read, where anything is declared."""
    names, labels, words = declared.get("number", []), declared.get("labels", {}), declared.get("words", {})
    booleans, places, counts = declared.get("booleans", False), declared.get("places"), "count" in declared
    try:
        for name in names:
            number("", name)
    except KeyError as error:
        raise UnusableDocument(f"the dialect's {at}: no number pattern is called {error}") from None
    if not (names or labels or words or booleans or counts or places is not None):
        return None
    least = None if places is None else Decimal(1).scaleb(-int(places))

    def convert(read: Read) -> Read:
        value = read.value
        if counts and type(value) is str:
            return Read(Number(str(len(value))), read.take, "count characters")
        if type(value) is bool and booleans:
            return Read(Number("1" if value else "0"), read.take, "boolean")
        if type(value) is str and value in labels:
            return Read(Number(labels[value]), read.take, "label")
        if type(value) is str and value in words:
            return Read(words[value], read.take, "word")
        if type(value) is str:
            for name in names:
                found = number(value, name)
                if found is not None:
                    read = Read(found, read.take, f"number {name}")
                    break
        return _rounded(read, least) if least is not None and type(read.value) is Number else read

    return convert


def _rounded(read: Read, least: Decimal) -> Read:
    """Return the number rounded to multiples of `least`."""
    exact = exact_value(read.value)
    if exact is None or not _FINE < abs(exact) < _LARGE or Decimal(int(exact.as_tuple().exponent)) >= least.adjusted():
        return read
    places = -least.adjusted()
    text = f"{exact.quantize(least, rounding=ROUND_HALF_EVEN):f}"
    return Read(Number(text), read.take, f"{read.how} round {places}".strip())
