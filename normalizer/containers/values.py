"""Read a value of an entry from a row, as a dialect declares it."""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from normalizer.containers.conversions import MISSING, Read, Scope, ValueReader, conversion, extractor, failure_finder
from normalizer.containers.readers.rows import MAX_ROW_BYTES, UnreadableContainer
from normalizer.documents.lossless import comparable, dumps
from normalizer.documents.pointers import escape, steps_of
from normalizer.errors import UnusableDocument

_WHERE = ("at", "template", "text", "key", "first")
_NAMED = {"key": "key", "index": "place"}
"""Words of a template, and what of the scope they stand for."""
TOO_LONG = f"the dialect makes more than {MAX_ROW_BYTES} characters of one entry, by naming a long text many times"
_REFERENCE = re.compile(r"\{(?:(?:(part|document|reply|joined):)?((?:/[^{}]*)?)|(key|index)|star:([1-9]))\}")


class PlainPointer(NamedTuple):
    """A value of the row or the part that is copied as it stands, which most fields are: read without closures."""

    of_part: bool
    steps: tuple[str, ...]
    take: str


def plain_pointer(declared: dict[str, Any]) -> PlainPointer | None:
    """Where a declaration points, if it is that simple."""
    of = declared.get("of", "row")
    if "at" not in declared or declared.keys() - {"at", "of"} or of not in ("row", "part"):
        return None
    at = declared["at"]
    return PlainPointer(of == "part", tuple(steps_of(at)), at if of == "row" else f"part:{at}")


def reads_row_alone(declared: dict[str, Any]) -> bool:
    """Whether a value does not depend on the part of a row, nor on the document or a joined row."""
    if "first" in declared:
        return all(map(reads_row_alone, declared["first"]))
    if "template" in declared:
        return all(
            not match[1] and not match[3] and not match[4] for match in _REFERENCE.finditer(declared["template"])
        )
    if any(sign.get("of", "row") != "row" for sign in declared.get("failed_if", [])):
        return False
    return "key" not in declared and "member" not in declared and declared.get("of", "row") == "row"


def reader(declared: dict[str, Any], at: str, *, option: bool = False) -> ValueReader:
    """The function that reads what a dialect declares. `at` names the declaration in errors.

    `option`: it is one of several, for which a template with an empty text in it is not there.
    """
    given = [key for key in _WHERE if key in declared]
    if len(given) != 1:
        raise UnusableDocument(f"the dialect's {at} must have exactly one of {', '.join(_WHERE)}")
    found = _source(declared, given[0], at, option=option)
    failures, omitted = ([comparable(value) for value in declared.get(name, [])] for name in ("failed", "omitted"))
    signs = [_sign(sign) for sign in declared.get("failed_if", [])]
    absent = declared.get("absent", "omitted")
    convert = conversion(declared, at)
    extract = extractor(declared["pattern"], at) if "pattern" in declared else None
    looks_failed = failure_finder(declared["failed_like"], at) if "failed_like" in declared else None
    if not (failures or omitted or signs or extract or looks_failed or convert) and absent == "omitted":
        return found

    def read(scope: Scope) -> Read:
        read = found(scope)
        if read.failed:
            return read
        for sign in signs:
            if find_sign := sign(scope):
                return Read(MISSING, "", failed=find_sign)
        if looks_failed is not None and (find_sign := looks_failed(read.value)):
            return Read(MISSING, read.take, failed=find_sign)
        if extract is not None and (read := extract(read)).failed:
            return read
        if read.value is MISSING:
            return read._replace(failed="nothing is there") if absent == "failed" else read
        if failures and comparable(read.value) in failures:
            return Read(MISSING, read.take, failed=f"it is {dumps(read.value)}")
        if omitted and comparable(read.value) in omitted:
            return Read(MISSING, read.take, "omitted")
        if convert is None:
            return read
        made = convert(read)
        return made._replace(how=f"pattern {made.how}") if extract is not None and made is not read else made

    return read


def _sign(declared: dict[str, Any]) -> Callable[[Scope], str]:
    """Return a function that says by which sign the judge gave no verdict; it returns "" without that sign."""
    steps, of = steps_of(declared["at"]), declared.get("of", "row")
    place = Scope._fields.index(of)
    allowed = [comparable(value) for value in declared["is"]]
    take = declared["at"] if of == "row" else f"{of}:{declared['at']}"

    def find_sign(scope: Scope) -> str:
        value = fetch(scope[place], steps)
        return f"{take} is {dumps(value)}" if value is not MISSING and comparable(value) in allowed else ""

    return find_sign


def scalar_text(value: Any) -> str | None:
    """A string as it is, a number or boolean as it is spelled; None for anything else."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return None


def fetch(value: Any, steps: Sequence[str]) -> Any:
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


def _source(declared: dict[str, Any], kind: str, at: str, *, option: bool) -> ValueReader:
    if kind == "template":
        return _template(declared["template"], at, whole=option)
    if kind == "text":
        constant = Read(declared["text"], "", "text")
        return lambda _: constant
    if "star" in declared:
        return _star(declared, kind, at)
    if kind == "key":
        return lambda scope: Read(scope.key, "key")
    if kind == "first":
        options = [reader(one, f"{at}/first/{index}", option=True) for index, one in enumerate(declared["first"])]
        return lambda scope: _first(options, scope)
    return _pointer(declared)


def _star(declared: dict[str, Any], kind: str, at: str) -> ValueReader:
    """Return a reader of the value that a `*` of `split` matched, or of its key."""
    number = int(declared["star"]) - 1
    if kind == "key":

        def key(scope: Scope) -> Read:
            star = scope.stars[number] if number < len(scope.stars) else None
            return Read(MISSING if star is None or star.key is None else star.key, "key")

        return key
    if kind != "at" or declared.get("of") != "part" or "member" in declared:
        raise UnusableDocument(f"the dialect's {at}: star goes with key, or with at and of: part")
    found = _pointer({name: value for name, value in declared.items() if name != "star"})

    def read(scope: Scope) -> Read:
        if number >= len(scope.stars):
            return Read(MISSING, f"part:{declared['at']}")
        star = scope.stars[number]
        read = found(scope._replace(part=star.value))
        return read._replace(take=star.pointer + read.take.removeprefix("part:"))

    return read


def _first(options: list[ValueReader], scope: Scope) -> Read:
    """Return the first value that is present and neither null nor empty, or a failure; else the last."""
    read = Read(MISSING, "")
    for option in options:
        read = option(scope)
        if read.failed or (read.value is not MISSING and read.value is not None and read.value != ""):
            return read
    return read


def _pointer(declared: dict[str, Any]) -> ValueReader:
    steps, of = steps_of(declared["at"]), declared.get("of", "row")
    take = declared["at"] if of == "row" else f"{of}:{declared['at']}"
    place = Scope._fields.index(of)
    where = declared.get("where")
    if declared.get("member") == "part":
        return lambda scope: _take_part(scope, fetch(scope[place], steps), take)
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


def _take_part(scope: Scope, value: Any, take: str) -> Read:
    if type(value) is not dict or type(scope.part) is not str:
        return Read(MISSING, take)
    return Read(value.get(scope.part, MISSING), f"{take}/{escape(scope.part)}")


def matcher(condition: dict[str, Any]) -> Callable[[Any], bool]:
    """Return a function that says whether a condition applies to a row or an item."""
    steps = steps_of(condition["at"])
    if "is_not" in condition:
        refused = [comparable(value) for value in condition["is_not"]]
        others = matcher({"at": condition["at"], "is": condition["is"]}) if "is" in condition else lambda _: True
        return lambda value: comparable(fetch(value, steps)) not in refused and others(value)
    if "is" not in condition:
        return lambda value: fetch(value, steps) is not MISSING
    allowed = [comparable(value) for value in condition["is"]]

    def matches(value: Any) -> bool:
        found = fetch(value, steps)
        return found is not MISSING and comparable(found) in allowed

    return matches


def _refer(scope: Scope, place: int, steps: list[str]) -> Any:
    """Return the value to which a reference of a template leads, or `MISSING`."""
    if scope[place] is not scope.stars:
        return fetch(scope[place], steps)
    number = int(steps[0]) - 1
    return scope.stars[number].key if number < len(scope.stars) else MISSING


def _template(template: str, at: str, *, whole: bool) -> ValueReader:
    parts: list[str | tuple[int, list[str]]] = []
    end = 0
    for match in _REFERENCE.finditer(template):
        parts.append(template[end : match.start()])
        of = "stars" if match[4] else _NAMED.get(match[3]) or match[1] or "row"
        parts.append((Scope._fields.index(of), [match[4]] if match[4] else steps_of(match[2] or "")))
        end = match.end()
    parts.append(template[end:])
    if "{" in "".join(part for part in parts if isinstance(part, str)) or len(parts) == 1:
        raise UnusableDocument(f"the dialect's {at}: {template!r} must have pointers in braces, such as {{/id}}")

    def read(scope: Scope) -> Read:
        texts: list[str] = []
        room = MAX_ROW_BYTES
        for part in parts:
            text = part if isinstance(part, str) else scalar_text(_refer(scope, *part))
            if text is None or (whole and not text and not isinstance(part, str)):
                return Read(MISSING, template, "template")
            room -= len(text)
            if room < 0:
                raise UnreadableContainer(TOO_LONG)
            texts.append(text)
        return Read("".join(texts), template, "template")

    return read
