"""The instruments that a calibration was measured on: version, prompt and settings of a judge.

A number that gold labels correct, such as a pass rate, holds for the instrument that gave the judgements with gold.
Judgements of another version or prompt are those of another judge: for them the calibration has expired.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any

from normalizer.aggregate import keys
from normalizer.aggregate.keys import INSTRUMENT
from normalizer.calibration.labels import Identities, Instrument, Item


def group_by_instrument(judged: Iterable[tuple[str, Instrument, Item]]) -> Identities:
    """Return the items of each instrument, given every judge, instrument and item that occur together."""
    found: dict[str, dict[Instrument, set[Item]]] = defaultdict(lambda: defaultdict(set))
    for judge, instrument, item in judged:
        found[judge][instrument].add(item)
    return {
        judge: {each: frozenset(found[judge][each]) for each in sorted(found[judge], key=keys.sort_key)}
        for judge in sorted(found)
    }


def describe_instruments(identities: Identities, gold: Collection[Item]) -> list[dict[str, Any]]:
    """Return what was measured: each instrument, with the numbers of its items that have gold and of the others."""
    return [
        {
            "judge": judge,
            **dict(zip(INSTRUMENT, instrument, strict=True)),
            "n_gold": sum(item in gold for item in items),
            "n_judged": sum(item not in gold for item in items),
        }
        for judge, instruments in identities.items()
        for instrument, items in instruments.items()
    ]


def find_expiry(identities: Identities, judge: str, gold: Collection[Item]) -> str | None:
    """Return why gold says nothing about a judge's items without gold: another version, prompt or settings judged them.

    Each instrument that judged items without gold must have judged items with gold.
    """
    unmeasured = [
        instrument
        for instrument, items in identities.get(judge, {}).items()
        if any(item not in gold for item in items) and not any(item in gold for item in items)
    ]
    if not unmeasured:
        return None
    named = zip(INSTRUMENT, unmeasured[0], strict=True)
    told = ", ".join(f"{name} {keys.level(level)}" for name, level in named if level is not None)
    return (
        "the calibration has expired: items without gold were judged by an instrument that gold has not measured "
        f"({told or 'records that name neither version nor prompt'})"
    )
