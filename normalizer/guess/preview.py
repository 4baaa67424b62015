"""The records that a reading would make of a file: counts, three entries, and the table that would come out."""

import json
from collections import Counter, defaultdict
from decimal import Decimal
from typing import Any, BinaryIO, NamedTuple

from normalizer.documents.lossless import dumps, parse
from normalizer.documents.settings import LIMITS, load
from normalizer.guess.roles import ASPECT
from normalizer.guess.rows import FIRST
from normalizer.screening.pipeline import normalize_file

_SHOWN = 3
_MOST_ROWS = 12
_TOLD = ("file", "scores", "item", "a", "b", "verdict", "judge_model", "generator_model")


class Preview(NamedTuple):
    """The records of a file under a reading."""

    valid: int
    invalid: int
    reasons: list[str]
    """The first reason of each kind."""
    entries: list[str]
    table: list[str]
    is_whole: bool
    """Whether the whole file was read."""


class _Enough(Exception):
    """As many records as are wanted."""


class _Tally:
    """Takes the lines that a ledger would get, and counts them."""

    def __init__(self) -> None:
        self.reset(None)

    def reset(self, _: Any) -> None:
        """Forget everything."""
        self.valid = self.invalid = 0
        self.reasons: Counter[str] = Counter()
        self.entries: list[str] = []
        self.cells: dict[tuple[str, str], list[Decimal]] = defaultdict(lambda: [Decimal(0), Decimal(0)])
        self.wins: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)

    def mark(self) -> None:
        """There is one state to go back to: the beginning."""

    def write(self, kind: str, text: str) -> None:
        """Count a line."""
        record = json.loads(text, parse_float=Decimal, parse_int=Decimal)
        if kind == "invalid":
            self.invalid += 1
            self.reasons[record["reasons"][0]["code"]] += 1
        else:
            self.valid += 1
            if len(self.entries) < _SHOWN:
                exact = parse(text.encode(), LIMITS["max_depth"] + 1)
                self.entries.append(dumps({key: exact[key] for key in _TOLD if key in exact}))
            if "outcome" in record:
                outcome = record["outcome"]
                self.wins[outcome["a"], outcome["b"]][outcome["winner"]] += 1
            for name, score in record.get("scores", {}).items():
                criterion = record.get("factors", {}).get(ASPECT)
                cell = self.cells[record.get("generator_model", ""), name if criterion is None else criterion]
                cell[0] += 1
                cell[1] += score
        if self.valid + self.invalid >= FIRST:
            raise _Enough

    def table(self) -> list[str]:
        """The means by generator and dimension, or the wins of each pair."""
        if self.wins:
            columns = {"a": "a wins", "b": "b wins", "draw": "draws"}
            if any(wins["both_bad"] for wins in self.wins.values()):
                columns["both_bad"] = "both bad"
            lines = [" | ".join(("a", "b", *columns.values()))]
            lines += [
                " | ".join((a, b, *(str(wins[winner]) for winner in columns)))
                for (a, b), wins in sorted(self.wins.items())
            ]
        else:
            lines = ["generator | dimension | n | mean"]
            lines += [
                f"{generator} | {name} | {count} | {total / count:.6g}"
                for (generator, name), (count, total) in sorted(self.cells.items())
            ]
        return lines if len(lines) <= _MOST_ROWS else [*lines[:_MOST_ROWS], f"... {len(lines) - _MOST_ROWS} more rows"]


def preview(
    stream: BinaryIO, dialect: bytes, rubric: dict[str, Any] | None = None, stated: dict[str, str] | None = None
) -> Preview:
    """Read the file, or its first 20,000 entries, with a dialect."""
    scale = dumps(rubric).encode() if rubric is not None else None
    settings = load(dialect=dialect, rubric=scale, stated=dumps(stated).encode() if stated else None)
    tally = _Tally()
    stream.seek(0)
    whole = True
    try:
        outcome = normalize_file(stream, "0" * 64, 0, settings, tally)
        if outcome.audit:
            return Preview(0, 0, [reason.message for reason in outcome.reasons], [], [], is_whole=True)
    except _Enough:
        whole = False
    reasons = [f"{count} {code}" for code, count in tally.reasons.most_common(3)]
    return Preview(tally.valid, tally.invalid, reasons, tally.entries, tally.table(), whole)
