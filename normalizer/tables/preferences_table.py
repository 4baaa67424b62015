"""Preferences as tables: pairs, generators overall, order effects, ratings, length bias."""

from typing import Any

from normalizer.aggregate import keys
from normalizer.tables.formats import Cell, Table, ends, note_flags, note_left_out, tell_na
from normalizer.tables.summary_table import FLAGS, recipe_notes

_COUNTS = ("wins", "losses", "draws", "both_bad", "missing", "items")


def list_tables(document: dict[str, Any]) -> list[tuple[str, Table]]:
    """Return all tables by title, without empty ones except the first, whose notes say what was left out of all."""
    tables = [
        ("Pairs", pairs(document)),
        ("Scores by a recipe", _recipe(document)),
        ("Generators against all others", overall(document)),
        ("Order shown", _order(document)),
        ("Verdicts in both orders", _order_swaps(document)),
        ("Bradley-Terry ratings", ratings(document)),
        ("Length", _length(document)),
    ]
    return [tables[0], *((title, table) for title, table in tables[1:] if table.rows)]


def pairs(document: dict[str, Any]) -> Table:
    """Return one row per pair: the rate of the first generator against the second."""
    told = [
        ([*keys.list_levels(group["key"]), keys.level(pair["a"]), keys.level(pair["b"])], pair)
        for group in document["groups"]
        for pair in group["pairs"]
    ]
    columns, rows = _rates([*document["by"], "generator", "against"], told)
    return Table(columns, rows, notes(document, [pair for _, pair in told]))


def _recipe(document: dict[str, Any]) -> Table:
    told = document["recipe"]
    rows: list[list[Cell]] = []
    for group in document["groups"] if told else ():
        for pair in group["pairs"]:
            found = pair["recipe"]
            names: list[Cell] = [*keys.list_levels(group["key"]), keys.level(pair["a"]), keys.level(pair["b"])]
            rows.append([*names, found["n"], found["score"], *ends(found["ci95"])])
    columns = [*document["by"], "generator", "against", "comparisons", "score", "ci95_low", "ci95_high"]
    return Table(columns, rows, recipe_notes(told) if told else [])


def overall(document: dict[str, Any]) -> Table:
    """Return one row per generator: its rate against all others."""
    told = [
        ([*keys.list_levels(group["key"]), keys.level(row["generator"])], row)
        for group in document["groups"]
        for row in group["overall"]
    ]
    columns, rows = _rates([*document["by"], "generator"], told)
    return Table(columns, rows, _reasons([row for _, row in told]))


def ratings(document: dict[str, Any]) -> Table:
    """Return one row per generator: its rating with the interval."""
    rows: list[list[Cell]] = []
    said = {
        "Log-odds, a draw being half a win; intervals are cluster-robust by item. win_probability: against an opponent "
        "of rating 0. ranks: those that the differences from the others leave, at 95 % for each generator."
    }
    overall = [row for group in document["groups"] for row in group["overall"]]
    unlike = any("different_opponents" in row["flags"] for row in overall)
    for group in document["groups"]:
        found = group["ratings"]
        said |= {f"NA: {found['na']}."} if found["na"] else set()
        said.add(f"Relative to {'the mean' if found['relative_to'] == 'mean' else keys.level(found['relative_to'])}.")
        for row in found["rows"]:
            ranks = None if row["ranks"] is None else "-".join(str(rank) for rank in sorted(set(row["ranks"])))
            cells: list[Cell] = [row["rating"], *ends(row["ci95"]), ranks, row["win_probability"]]
            rows.append(
                [
                    *keys.list_levels(group["key"]),
                    keys.level(row["generator"]),
                    *cells,
                    *([row["opponents"]] if unlike else []),
                ]
            )
        if not found["rows"]:
            rows.append([*keys.list_levels(group["key"]), keys.ALL, *[None] * (6 if unlike else 5)])
    columns = [*document["by"], "generator", "rating", "ci95_low", "ci95_high", "ranks", "win_probability"]
    if unlike:
        columns.append("opponents")
        said.add("opponents: the mean rating of the generators that it met.")
    return Table(columns, rows, sorted(said))


def notes(document: dict[str, Any], told: list[dict[str, Any]]) -> list[str]:
    """Return notes on the rule and on what was left out."""
    drawn = document["bootstrap"]
    said = note_flags(document["flags"])
    said.append(
        "Rate: the verdicts on an item are averaged (win 1, draw 1/2, loss 0), then the items; both_bad and missing "
        "verdicts are in no rate."
    )
    said.append(
        "95 % intervals: exact of a mean from 0 to 1 over items, Clopper and Pearson's where items are won or lost; "
        f"bootstrap by item ({drawn['resamples']} resamples, seed {drawn['seed']})."
    )
    if any(row["share"] is not None for row in told):
        said.append(
            "weighted: the mean preference for the first, from 0 to 1, item by item, with the interval of a mean on a "
            "scale; AlpacaEval publishes it as its win rate, in percent."
        )
    said.append(note_left_out(document))
    return said + _reasons(told)


def _order(document: dict[str, Any]) -> Table:
    told = [(keys.list_levels(group["key"]), group["order"]["first_shown"]) for group in document["groups"]]
    shown = [(levels, first) for levels, first in told if first["items"]]
    columns, rows = _rates([*document["by"]], shown)
    unknown = [group["order"]["unknown"] for group in document["groups"] if group["order"]["first_shown"]["items"]]
    rows = [[*row, count] for row, count in zip(rows, unknown, strict=True)]
    notes = ["Wins and rate of the answer that was shown first.", *_reasons([first for _, first in shown])]
    return Table([*columns, "order unknown"], rows, notes)


def _order_swaps(document: dict[str, Any]) -> Table:
    rows: list[list[Cell]] = []
    for group in document["groups"]:
        found = group["order"]["swapped"]
        if found["pairs"]:
            cells: list[Cell] = [found["pairs"], found["decided"], found["consistent"], found["consistency"]]
            cells += [*ends(found["exact95"]), found["first_both_times"], found["second_both_times"]]
            rows.append([*keys.list_levels(group["key"]), *cells])
    columns = ["pairs", "decided", "consistent", "consistency", "exact95_low", "exact95_high", "first twice"]
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
            start: list[Cell] = [*keys.list_levels(group["key"]), keys.level(pair["a"]), keys.level(pair["b"])]
            for found in pair["length"]["bins"]:
                if found["items"]:
                    rows.append([*start, found["a_is"], found["items"], found["rate"], *ends(found["exact95"])])
            controlled = pair["length"]["controlled"]
            rows.append([*start, "controlled", controlled["items"], controlled["rate"], *ends(controlled["ci95"])])
            said |= {f"NA: {controlled['na']}."} if controlled["na"] else set()
    columns = ["generator", "against", "length of the first", "items", "rate", "ci95_low", "ci95_high"]
    return Table([*document["by"], *columns], rows, sorted(said))


def _rates(start: list[str], told: list[tuple[list[Cell], dict[str, Any]]]) -> tuple[list[str], list[list[Cell]]]:
    """Return columns and rows of rates, given the first cells of each; the weighted rate where there is one."""
    columns = [*start, *_COUNTS, "rate", "exact95_low", "exact95_high", "bootstrap95_low", "bootstrap95_high"]
    weighted = any(found["share"] is not None for _, found in told)
    columns += ["weighted", "weighted95_low", "weighted95_high"] if weighted else []
    rows = []
    for first, found in told:
        cells: list[Cell] = [*first, *(found[name] for name in _COUNTS)]
        cells += [found["rate"], *ends(found["exact95"]), *ends(found["bootstrap95"])]
        cells += [found["share"], *ends(found["share_ci95"])] if weighted else []
        rows.append([*cells, " ".join(found["flags"])])
    return [*columns, "flags"], rows


def _reasons(told: list[dict[str, Any]]) -> list[str]:
    flags = sorted({flag for row in told for flag in row["flags"]})
    return tell_na(told) + [f"{flag}: {FLAGS[flag]}" for flag in flags]
