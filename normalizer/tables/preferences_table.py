"""Preferences as tables: pairs, generators overall, order effects, ratings, length bias."""

from typing import Any

import contract_spec as spec

from normalizer.aggregate import cell_names
from normalizer.tables.formats import Cell, Table
from normalizer.tables.summary_table import left_out_note, of_all

_COUNTS = ("wins", "losses", "draws", "both_bad", "missing", "items")
_FLAGS: dict[str, str] = spec.resource("rules/flags.json")


def named(document: dict[str, Any]) -> list[tuple[str, Table]]:
    """Return all tables by title, without empty ones except the first, whose notes say what was left out of all."""
    tables = [
        ("Pairs", pairs(document)),
        ("Generators against all others", overall(document)),
        ("Order shown", _order(document)),
        ("Verdicts in both orders", _swapped(document)),
        ("Bradley-Terry ratings", ratings(document)),
        ("Length", _length(document)),
    ]
    return [tables[0], *((title, table) for title, table in tables[1:] if table.rows)]


def pairs(document: dict[str, Any]) -> Table:
    """Return one row per pair: the rate of the first generator against the second."""
    rows = [
        [*_levels(group), _name(pair["a"]), _name(pair["b"]), *_rate(pair)]
        for group in document["groups"]
        for pair in group["pairs"]
    ]
    told = [pair for group in document["groups"] for pair in group["pairs"]]
    return Table([*document["by"], "generator", "against", *_columns()], rows, notes(document, told))


def overall(document: dict[str, Any]) -> Table:
    """Return one row per generator: its rate against all others."""
    told = [row for group in document["groups"] for row in group["overall"]]
    rows = [
        [*_levels(group), _name(row["generator"]), *_rate(row)]
        for group in document["groups"]
        for row in group["overall"]
    ]
    return Table([*document["by"], "generator", *_columns()], rows, _reasons(told))


def ratings(document: dict[str, Any]) -> Table:
    """Return one row per generator: its rating with the interval."""
    rows: list[list[Cell]] = []
    said = {"Log-odds, a draw being half a win; intervals are cluster-robust by item."}
    for group in document["groups"]:
        found = group["ratings"]
        said |= {f"NA: {found['na']}."} if found["na"] else set()
        said.add(f"Relative to {'the mean' if found['relative_to'] == 'mean' else _name(found['relative_to'])}.")
        for row in found["rows"]:
            cells: list[Cell] = [row["rating"], *_two(row["ci95"]), row["win_probability"]]
            rows.append([*_levels(group), _name(row["generator"]), *cells])
        if not found["rows"]:
            rows.append([*_levels(group), cell_names.ALL, None, None, None, None])
    columns = [*document["by"], "generator", "rating", "ci95_low", "ci95_high", "win_probability"]
    return Table(columns, rows, sorted(said))


def notes(document: dict[str, Any], told: list[dict[str, Any]]) -> list[str]:
    """Return notes on the rule and on what was left out."""
    drawn = document["bootstrap"]
    said = of_all(document["flags"])
    said.append(
        "Rate: the verdicts on an item are averaged (win 1, draw 1/2, loss 0), then the items; both_bad and missing "
        "verdicts are in no rate."
    )
    said.append(
        f"95 % intervals: Wilson over items; bootstrap by item ({drawn['resamples']} resamples, seed {drawn['seed']})."
    )
    said.append(left_out_note(document))
    return said + _reasons(told)


def _order(document: dict[str, Any]) -> Table:
    rows: list[list[Cell]] = []
    for group in document["groups"]:
        first = group["order"]["first_shown"]
        if first["items"]:
            rows.append([*_levels(group), *_rate(first), group["order"]["unknown"]])
    columns = [*document["by"], *_columns(), "order unknown"]
    return Table(columns, rows, ["Wins and rate of the answer that was shown first."])


def _swapped(document: dict[str, Any]) -> Table:
    rows: list[list[Cell]] = []
    for group in document["groups"]:
        found = group["order"]["swapped"]
        if found["pairs"]:
            cells: list[Cell] = [found["pairs"], found["decided"], found["consistent"], found["consistency"]]
            cells += [*_two(found["wilson95"]), found["first_both_times"], found["second_both_times"]]
            rows.append([*_levels(group), *cells])
    columns = ["pairs", "decided", "consistent", "consistency", "wilson95_low", "wilson95_high", "first twice"]
    note = "Verdicts on the same answers by the same judge in both orders; the full table is in the JSON."
    return Table([*document["by"], *columns, "second twice"], rows, [note])


def _length(document: dict[str, Any]) -> Table:
    rows: list[list[Cell]] = []
    said = set()
    for group in document["groups"]:
        for pair in group["pairs"]:
            if pair["length"] is None:
                continue
            said.add(f"Length-controlled: {pair['length']['model']}.")
            start: list[Cell] = [*_levels(group), _name(pair["a"]), _name(pair["b"])]
            for found in pair["length"]["bins"]:
                if found["items"]:
                    rows.append([*start, found["a_is"], found["items"], found["rate"], *_two(found["wilson95"])])
            controlled = pair["length"]["controlled"]
            rows.append([*start, "controlled", controlled["items"], controlled["rate"], *_two(controlled["ci95"])])
            said |= {f"NA: {controlled['na']}."} if controlled["na"] else set()
    columns = ["generator", "against", "length of the first", "items", "rate", "ci95_low", "ci95_high"]
    return Table([*document["by"], *columns], rows, sorted(said))


def _columns() -> list[str]:
    return [*_COUNTS, "rate", "wilson95_low", "wilson95_high", "bootstrap95_low", "bootstrap95_high", "flags"]


def _rate(found: dict[str, Any]) -> list[Cell]:
    counts: list[Cell] = [found[name] for name in _COUNTS]
    flags = " ".join(found["flags"])
    return [*counts, found["rate"], *_two(found["wilson95"]), *_two(found["bootstrap95"]), flags]


def _two(interval: list[Any] | None) -> list[Cell]:
    return [None, None] if interval is None else [*interval]


def _levels(group: dict[str, Any]) -> list[Cell]:
    return [cell_names.level(level) for level in group["key"].values()]


def _name(name: str) -> str:
    return cell_names.level(name)


def _reasons(told: list[dict[str, Any]]) -> list[str]:
    reasons = sorted({row["na"] for row in told if row["na"]})
    flags = sorted({flag for row in told for flag in row["flags"]})
    return [f"NA: {reason}." for reason in reasons] + [f"{flag}: {_FLAGS[flag]}" for flag in flags]
