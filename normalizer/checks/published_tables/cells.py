"""Read the numbers in a cell of a published table, in every way that it may be meant.

A cell has one number, an interval, or a mean with its spread. `1,234` may be 1234 or, where cells are not separated by
commas, 1.234: both readings are returned, and the comparison takes the one that fits.
"""

import re
from decimal import Decimal
from typing import NamedTuple

_PLUS_MINUS = re.compile(r"\s*(?:\xb1|\+/-|\+-)\s*")
_IN_BRACKETS = re.compile(r"(.*?\S)\s*[\[({]\s*([^\[\](){}]*?)\s*[\])}](\s*%)?")
_NUMBER = r"[-+\u2212]?[0-9.,'\u00a0\u2009\u202f]*[0-9]\s*%?"
_DASH = "[-\u2010\u2011\u2012\u2013\u2014]"


def _two(between: str) -> re.Pattern[str]:
    return re.compile(rf"[\[(]?\s*({_NUMBER})\s*(?:{between})\s*({_NUMBER})\s*[\])]?", re.IGNORECASE)


_INTERVALS = (_two(r"to|bis|\xe0|,\s|;|\.\.\.?|\u2026"), _two(_DASH), _two("--"))
"""Two numbers with a word, a mark or a dash between them; in `1--2` the second dash may be a sign."""
_BARE_TWO = re.compile(r"[\[(]?\s*([-+\u2212]?[0-9.]+)\s*,\s*([-+\u2212]?[0-9.]+)\s*[\])]?")
_COMMAS = re.compile(r"[\[(]?\s*([-+\u2212]?[0-9]+,[0-9]+)\s*,\s*([-+\u2212]?[0-9]+,[0-9]+)\s*[\])]?")
"""Decimal commas, and a comma between the two: three commas leave no other reading."""
_AROUND = re.compile(r"(.*?[0-9])\s*\^\{?\s*\+([0-9.,]+)\s*\}?\s*_\{?\s*[-\u2212]([0-9.,]+)\s*\}?")
"""Errors above and below, as in 6.08^{+0.4}_{-0.3}."""
_SUBSCRIPT = re.compile(r"(.*?[0-9])\s*_\{?\s*(?:\xb1\s*)?([0-9.,]+)\s*\}?")
_LAST_DIGITS = re.compile(r"([-+\u2212]?[0-9]+)[.,]([0-9]+)\(([0-9]+)\)")
"""An error in units of the last digits, as in 6.08(37)."""
_MARKS = re.compile(r"(?:\s*(?:[*\u2020\u2021\xa7\xb6#\xb9\xb2\xb3\u2070-\u2079]|\^\{?[a-z*,\u2020\u2021]+\}?))+$")
_LABEL = re.compile(r"(?:\b95\s*%[ -]?)?\b(CI|KI|IC|SD|S\.D\.|SEM|SE|S\.E\.)(?![A-Za-z])\s*[:=]?\s*")
_ENDS_IN_DIGIT = re.compile(r"[0-9%][ ,;]*$")
_KINDS = {"CI": "interval", "KI": "interval", "IC": "interval", "SD": "sd", "SEM": "se", "SE": "se"}
_PLAIN_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)")
_THOUSANDS = re.compile(r"[-+]?[0-9]{1,3}(?:([,' \u00a0\u2009\u202f])[0-9]{3})(?:\1[0-9]{3})*(?:\.[0-9]+)?")
_DECIMAL_COMMA = re.compile(r"[-+]?(?:[0-9]*|[0-9]{1,3}(?:[.' \u00a0\u2009\u202f][0-9]{3})+),[0-9]+")


_LONGEST = 200
"""Longer cells state no number: the patterns above try every way to divide a cell, and some texts have many."""


class Reading(NamedTuple):
    """One way to read a cell: its number or the two ends, and its spread behind \xb1, in brackets or below."""

    numbers: list[Decimal]
    spread: list[Decimal] | None = None
    """One number (a deviation, an error or half an interval), or the two ends of an interval."""
    kind: str | None = None
    """The kind of spread that the cell names: interval, sd or se. Without a spread it is the number's own kind."""
    percent: bool = False
    """Whether the cell is written in percent; the numbers are shares."""


def readings(cell: str, count: int, *, decimal_comma: bool) -> list[Reading]:
    """Return all ways to read a cell that states `count` numbers; empty if it states something else."""
    if len(cell) > _LONGEST:
        return []
    text = cell.strip().strip("$").strip()
    text, kind = _without_label(text)
    percent = "%" in text
    found = []
    for each in dict.fromkeys((text, _MARKS.sub("", text))):
        found += [Reading(numbers, kind=kind, percent=percent) for numbers in _several(each, count, decimal_comma)]
        if count == 1:
            found += [reading._replace(kind=kind, percent=percent) for reading in _spreads(each, decimal_comma)]
    return found


def _without_label(text: str) -> tuple[str, str | None]:
    """Remove the name of the spread, such as 95 % CI or SD; return it apart."""
    named = _LABEL.search(text)
    if named is None:
        return text, None
    before, after = text[: named.start()], text[named.end() :]
    between = "\xb1" if _ENDS_IN_DIGIT.search(before) and after[:1].isdigit() else ""  # 6.08, SD 0.37
    left = f"{before.rstrip(' ,;') if between else before}{between}{after}".strip()
    return re.sub(r"\s*[\[({]\s*[\])}]", "", left), _KINDS[named[1].replace(".", "")]


def _spreads(text: str, decimal_comma: bool) -> list[Reading]:
    """Return the readings of a cell as a mean with its spread."""
    found = []
    if around := _AROUND.fullmatch(text):
        found += [
            Reading([mean], [mean - below, mean + above])
            for mean in _numbers(around[1], decimal_comma)
            for above in _numbers(around[2], decimal_comma)
            for below in _numbers(around[3], decimal_comma)
        ]
    if digits := _LAST_DIGITS.fullmatch(text):
        mean = Decimal(f"{digits[1]}.{digits[2]}".replace("\u2212", "-"))
        found.append(Reading([mean], [Decimal(digits[3]).scaleb(-len(digits[2]))]))
    share = re.fullmatch(r"\(([^()]*)\)\s*(%)", text)  # (60.8 \xb1 3.7) %
    parts = _PLUS_MINUS.split(share[1] + share[2] if share else text)
    if len(parts) == 2:
        found += _with_spread(parts[0], parts[1], decimal_comma)
    if bracketed := _IN_BRACKETS.fullmatch(text):
        spread = _PLUS_MINUS.sub("", bracketed[2], count=1)
        found += _with_spread(bracketed[1], spread + (bracketed[3] or ""), decimal_comma)
    if below := _SUBSCRIPT.fullmatch(text):
        found += _with_spread(below[1], below[2], decimal_comma)
    return found


def _with_spread(mean: str, spread: str, decimal_comma: bool) -> list[Reading]:
    if spread.endswith("%") and not mean.endswith("%"):  # 60.8 \xb1 3.7 %: the sign is for both
        mean += "%"
    sides = [*_several(spread, 1, decimal_comma), *_several(spread, 2, decimal_comma)]
    return [Reading(one, other) for one in _several(mean, 1, decimal_comma) for other in sides]


def _several(text: str, count: int, decimal_comma: bool) -> list[list[Decimal]]:
    if count == 1:
        return [[number] for number in _numbers(text, decimal_comma)]
    found = []
    for pattern in (*_INTERVALS, _BARE_TWO, *([_COMMAS] if decimal_comma else [])):
        if two := pattern.fullmatch(text):
            first, second = two.groups()
            if second.endswith("%") and not first.endswith("%"):
                first += "%"
            low, high = (_numbers(end, decimal_comma) for end in (first, second))
            found += [[one, other] for one in low for other in high]
    return found


def _numbers(text: str, decimal_comma: bool) -> list[Decimal]:
    """Return the numbers that a text may mean."""
    text = text.strip().replace("\u2212", "-")
    share = text.endswith("%")
    text = text.removesuffix("%").rstrip()
    found = []
    if _PLAIN_NUMBER.fullmatch(text):
        found.append(Decimal(text))
    if _THOUSANDS.fullmatch(text):
        found.append(Decimal(re.sub(r"[,' \u00a0\u2009\u202f]", "", text)))
    if decimal_comma and _DECIMAL_COMMA.fullmatch(text):
        found.append(Decimal(re.sub(r"[.' \u00a0\u2009\u202f]", "", text).replace(",", ".")))
    return [number.scaleb(-2) for number in found] if share else found
