"""Noise of judges and the plan of a study as tables."""

from typing import Any

from normalizer.aggregate import keys
from normalizer.estimation.paired_test import SCALE, SPREAD
from normalizer.tables.formats import Cell, Table, ends, note_flags, note_left_out, tell_na


def list_tables(document: dict[str, Any]) -> list[tuple[str, Table]]:
    """Return the tables by title, without the plan if it is empty."""
    tables = [
        ("Noise of judges asked again", noise(document)),
        ("Clusters", _clusters(document)),
        ("Items needed", _plan(document)),
        ("Items needed by panels of judges", _panels(document)),
        ("Power", _curve(document)),
    ]
    return [tables[0], *((title, table) for title, table in tables[1:] if table.rows)]


def noise(document: dict[str, Any]) -> Table:
    """Return one row per judge and measure."""
    rows: list[list[Cell]] = []
    for row in document["results"]:
        cells: list[Cell] = [*(row[name] for name in _NOISE), *ends(row["noise_share_ci95"])]
        rows.append([keys.level(row["judge"]), keys.measure(row["measure"]), *cells])
    columns = ["judge", "measure", "items", "repeated", "labels", "changed", "within sd", "between sd"]
    notes = [*note_flags(document["flags"]), "changed: share of repeated pairs of labels that differ."]
    notes.append(
        "noise share: variance within items over all variance (1 - ICC); its interval assumes that items are "
        "independent, and nothing about how labels are distributed."
    )
    notes += [note_left_out(document), *tell_na(document["results"])]
    return Table([*columns, "noise share", "ci95_low", "ci95_high"], rows, notes)


def _plan(document: dict[str, Any]) -> Table:
    rows: list[list[Cell]] = [
        [keys.level(row["judge"]), keys.measure(row["measure"]), *(line[name] for name in _COLUMNS)]
        for row in document["results"]
        for line in row["plan"] or []
    ]
    notes = []
    if rows:
        notes.append(f"Items {_goal(document)}; never fewer than 10. {_ASSUMED[document['assume']]}")
        notes.append(
            "paired_least: both runs on the same items, true differences alike on all of them. paired: true "
            "differences vary as between the generators of this ledger. unpaired: each run on items of its own."
        )
        notes.append(_SAFE)
    return Table(["judge", "measure", *_COLUMNS], rows, notes)


def _panels(document: dict[str, Any]) -> Table:
    rows: list[list[Cell]] = [
        [keys.measure(panel["measure"]), panel["shared_sd"], panel["own_sd"], *(line[name] for name in _PANEL)]
        for panel in document["panels"]
        for line in panel["rows"]
    ]
    note = (
        "A panel's verdict is the mean of its judges, one label each. shared sd: how much true differences vary in the "
        "same way for all judges of this ledger; own sd: for each judge alone. More judges reduce only the latter."
    )
    return Table(["measure", "shared sd", "own sd", *_PANEL], rows, [note, _SAFE])


def _curve(document: dict[str, Any]) -> Table:
    rows: list[list[Cell]] = [
        [keys.level(row["judge"]), "total", *(line[name] for name in _CURVE)]
        for row in document["results"]
        for line in row["curve"] or []
        if row["measure"] == "total"
    ]
    notes = []
    if rows:
        notes = [
            f"The chance {_goal(document, power=False)}, with one label of each item. Dimensions are in the JSON.",
            _SAFE,
        ]
    return Table(["judge", "measure", *_CURVE], rows, notes)


def _clusters(document: dict[str, Any]) -> Table:
    rows: list[list[Cell]] = [
        [keys.level(row["judge"]), keys.measure(row["measure"]), *(row["clusters"][name] for name in _CLUSTER)]
        for row in document["results"]
        if row["clusters"] is not None
    ]
    note = (
        f"Artifacts with one {document['cluster']} go together. The items below are multiplied by the design effect, "
        "1 + (size - 1) * ICC: plan for clusters of this size."
    )
    return Table(["judge", "measure", *_CLUSTER], rows, [note])


def _goal(document: dict[str, Any], *, power: bool = True) -> str:
    """Return what a study is to show."""
    sure = f" with {100 * document['power']:g} % power, two-sided alpha {document['alpha']:g}" if power else ""
    if document["margin"] is None:
        return f"to find a difference of {document['detect']:g}{sure}"
    return f"for a system as good as its base to pass a margin of {document['margin']:g}{sure}"


_ASSUMED = {
    SCALE: "Pairs are planned for a test that assumes nothing but the scale, as `compare` and `gate` do by default; "
    "--assume spread needs fewer, where you can rule out rare large losses.",
    SPREAD: "They are for `compare` and `gate` with --assume spread: no rare large losses beyond those seen.",
}
_COLUMNS = ("repeats", "paired_least", "paired", "paired_safe", "unpaired", "unpaired_safe")
_NOISE = ("items", "repeated_items", "labels", "changed", "within_sd", "between_sd", "noise_share")
_PANEL = ("judges", "paired", "paired_safe")
_CURVE = ("items", "paired", "paired_safe", "unpaired", "unpaired_safe")
_CLUSTER = ("clusters", "size", "icc", "design_effect")
_SAFE = (
    "safe: by the upper end of the one-sided 80 % interval of the variance, because the estimate comes from few items."
)
