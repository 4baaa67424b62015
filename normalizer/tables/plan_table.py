"""Noise of judges and the plan of a study as tables."""

from typing import Any

from normalizer.aggregate import cell_names
from normalizer.tables.formats import Cell, Table
from normalizer.tables.summary_table import left_out_note, of_all


def named(document: dict[str, Any]) -> list[tuple[str, Table]]:
    """Return the tables by title, without the plan if it is empty."""
    tables = [("Noise of judges asked again", noise(document)), ("Items needed", _plan(document))]
    return [tables[0], *((title, table) for title, table in tables[1:] if table.rows)]


def noise(document: dict[str, Any]) -> Table:
    """Return one row per judge and measure."""
    rows: list[list[Cell]] = []
    for row in document["results"]:
        cells: list[Cell] = [row["items"], row["repeated_items"], row["labels"], row["changed"], row["within_sd"]]
        cells += [row["between_sd"], row["noise_share"], *(row["noise_share_ci95"] or (None, None))]
        rows.append([cell_names.level(row["judge"]), _measure(row), *cells])
    columns = ["judge", "measure", "items", "repeated", "labels", "changed", "within sd", "between sd"]
    reasons = sorted({row["na"] for row in document["results"] if row["na"]})
    notes = [*of_all(document["flags"]), "changed: share of repeated pairs of labels that differ."]
    notes.append(
        "noise share: variance within items over all variance (1 - ICC); "
        "interval by items with up to 7 different labels, by the F distribution (normal labels) with more."
    )
    notes += [left_out_note(document), *(f"NA: {reason}." for reason in reasons)]
    return Table([*columns, "noise share", "ci95_low", "ci95_high"], rows, notes)


def _plan(document: dict[str, Any]) -> Table:
    rows: list[list[Cell]] = [
        [cell_names.level(row["judge"]), _measure(row), *(line[name] for name in _COLUMNS)]
        for row in document["results"]
        for line in row["plan"] or []
    ]
    notes = []
    if document["detect"] is not None:
        notes.append(
            f"Items to find a difference of {document['detect']:g} with {100 * document['power']:g} % power, "
            f"two-sided alpha {document['alpha']:g}; never fewer than 10."
        )
        notes.append(
            "paired_least: both runs on the same items, true differences alike on all of them. paired: true "
            "differences vary as between the generators of this ledger. unpaired: each run on items of its own."
        )
    return Table(["judge", "measure", *_COLUMNS], rows, notes)


_COLUMNS = ("repeats", "paired_least", "paired", "unpaired")


def _measure(row: dict[str, Any]) -> str:
    return "total" if row["measure"] == "total" else cell_names.dimension(row["measure"])
