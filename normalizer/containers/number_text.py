"""Numbers that were written as text, by named patterns that must match the whole text."""

import re
from functools import cache

import contract_spec as spec

from normalizer.documents.lossless import Number

_ZEROS = re.compile(r"^(-?)0+(?=[0-9])")


@cache
def patterns() -> dict[str, re.Pattern[str]]:
    """The patterns of `rules/number_patterns.json` by name."""
    rules = spec.resource("rules/number_patterns.json")
    return {name: re.compile(rule["pattern"], re.ASCII) for name, rule in rules.items()}


def number(text: str, name: str) -> Number | None:
    """The number that a text is by the pattern of that name, spelled as JSON spells it; None where it is not one."""
    match = patterns()[name].fullmatch(text)
    if match is None:
        return None
    digits = match[1].replace(",", ".").removeprefix("+")
    return Number(_ZEROS.sub(r"\1", digits, count=1))


def readable_by(text: str) -> list[str]:
    """The names of the patterns by which a text is a number."""
    return [name for name in patterns() if number(text, name) is not None]
