"""Agreement between judges as a table, one row per pair and measure."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

from normalizer.aggregate import keys
from normalizer.tables.formats import (
    Cell,
    PValue,
    Range,
    Table,
    ends,
    note_flags,
    note_left_out,
    p_value,
    tell_range,
    tell_reasons,
)

_SHOWN = ("mae", "exact", "bias", "max_abs_diff", "kappa", "ac1", "kappa_quadratic", "alpha_ordinal")
_WITH_INTERVAL = ("exact", "kappa", "ac1", "alpha_ordinal")


def list_tables(report: dict[str, Any]) -> list[tuple[str, Table]]:
    """Return all tables for people by title, without empty ones except the first."""
    tables = [
        ("Agreement of judges", narrow(report)),
        ("Severity of judges", severity(report["severity"])),
        ("Where the variance of totals comes from", _variance(report["variance"])),
        ("What other judges would find again", _coefficients(report["variance"])),
        ("Mean totals of generators", _generators(report["generators"])),
        ("Self against cross judging", selves(report["self_against_cross"])),
    ]
    flags = note_flags(report["flags"])
    return [
        (title, round_for_people(each if place == 0 else replace(each, notes=[*flags, *each.notes])))
        for place, (title, each) in enumerate(tables)
        if each.rows or place == 0
    ]


def narrow(report: dict[str, Any]) -> Table:
    """Return the table for people: of every pair how often it agrees, and agreement beyond chance, with intervals."""
    rows: list[list[Cell]] = []
    for pair in report["pairs"]:
        for name, measured in measures(pair):
            cells: list[Cell] = [*map(keys.level, pair["judges"]), name, pair["n"]]
            for key in ("exact", "kappa", "ac1"):
                cells += [measured[key], tell_range(measured["ci95"][key])]
            rows.append([*cells, measured["bias"], measured["alpha_ordinal"], " ".join(pair["flags"])])
    for name, measured in measures(report["all"]) if len(report["pairs"]) > 1 else ():
        together: list[Cell] = [keys.ALL, keys.ALL, name, measured["n"], *[None] * 7]
        rows.append([*together, measured["alpha_ordinal"], " ".join(report["flags"])])
    columns = ["judge", "other judge", "measure", "n"]
    columns += [part for key in ("exact", "kappa", "ac1") for part in (key, "95 % interval")]
    columns += ["bias", "alpha_ordinal", "flags"]
    if not any(row[-1] for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return Table(columns, rows, table(report).notes)


def table(report: dict[str, Any]) -> Table:
    """Return a table of every pair and of all judges together."""
    rows: list[list[Cell]] = []
    reasons = set()
    for pair in report["pairs"]:
        for name, measured in measures(pair):
            judges = map(keys.level, pair["judges"])
            numbers = [measured[key] for key in _SHOWN]
            numbers += [end for key in _WITH_INTERVAL for end in ends(measured["ci95"][key])]
            rows.append([*judges, name, pair["n"], *numbers, " ".join(pair["flags"])])
            reasons |= set(measured["na"].values())
    flags = " ".join(report["flags"])
    for name, measured in measures(report["all"]):
        cells: list[Cell] = [keys.ALL, keys.ALL, name, measured["n"], *[None] * (len(_SHOWN) - 1)]
        rows.append([*cells, measured["alpha_ordinal"], *[None] * (2 * len(_WITH_INTERVAL)), flags])
        reasons |= set(measured["na"].values())
    notes = note_flags(report["flags"])
    notes.append(
        "n counts answers that both judged; exact is the share with equal values; bias is first minus second judge. "
        "alpha_ordinal, of all judges in the rows (all), is 1 less the disagreement over that of chance. "
        "kappa is agreement beyond that of two "
        "who give each value as often as these do; it falls where one value is rare, and ac1 does not: report both. "
        "95 % intervals assume independent artifacts; JSON and CSV have more measures."
    )
    notes.append(note_left_out(report))
    notes += [f"NA: {reason}." for reason in sorted(reasons)]
    bounds = [f"{name}.{end}" for name in _WITH_INTERVAL for end in ("ci95_low", "ci95_high")]
    return Table(["judge", "other judge", "measure", "n", *_SHOWN, *bounds, "flags"], rows, notes)


def measures(of: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the names of the total and the dimensions in tables."""
    return [("total", of["total"]), *((keys.dimension(name), found) for name, found in of["dimensions"].items())]


def severity(found: dict[str, Any]) -> Table:
    """Return one row per judge."""
    rows: list[list[Cell]] = [
        [keys.level(row["judge"]), row["panel"], row["n"], row["effect"], row["se"], tell_range(row["ci95"])]
        for row in found["judges"]
    ]
    deviation = "NA" if found["residual_sd"] is None else f"{found['residual_sd']:f}"
    notes = [
        f"total = answer + judge + the judge's bonus for its own model; residual sd {deviation}, "
        f"{found['freedom']} degrees of freedom.",
        "effect: the judge's totals less those of its panel on the same answers; positive is milder. Intervals are "
        "cluster-robust by artifact, so that judges may differ in their noise; they assume that the spread seen is the "
        "spread there is. Report effect and interval for judges of one panel.",
    ]
    return Table(
        ["judge", "panel", "n", "effect", "se", "95 % interval"],
        rows,
        notes + tell_reasons(found, *found["judges"]),
    )


def _variance(found: dict[str, Any]) -> Table:
    rows: list[list[Cell]] = [
        [row["factor"], row["levels"], row["variance"], row["share"]] for row in found["components"]
    ]
    notes = [
        "Restricted likelihood over crossed random effects. answer: an item's answer by one generator; taste: a "
        "judge's preference for a generator; rest: a judge about one answer. It assumes normal effects; with few "
        "judges or generators their variance is known badly."
    ]
    return Table(["factor", "levels", "variance", "share"], rows, notes)


def _coefficients(found: dict[str, Any]) -> Table:
    rows: list[list[Cell]] = []
    for row in found["coefficients"]:
        judges = row["judges"]  # a mean where panels differ, and else a count, which has no places
        rows.append([row["of"], int(judges) if judges == int(judges) else judges, row["relative"], row["absolute"]])
    notes = [
        "Generalizability coefficients, from 0 to 1: the share of the variance between answers, or between generators' "
        "means, that another panel of as many judges would find again. relative: for rankings; absolute: for values."
    ]
    return Table(["of", "judges", "relative", "absolute"], rows, notes)


def _generators(found: list[dict[str, Any]]) -> Table:
    rows: list[list[Cell]] = []
    for row in found:
        cells: list[Cell] = [keys.level(row["generator"]), row["items"], row["judges"], row["mean"]]
        cells += [tell_range(row["ci95"]), tell_range(row["ci95_over_judges"]), row["adjusted"]]
        rows.append([*cells, tell_range(row["adjusted_ci95"])])
    columns = ["generator", "items", "judges", "mean", "95 % interval", "over judges", "adjusted", "95 % interval"]
    notes = [
        "Self-judged labels are left out. 95 % interval: for these judges. over judges: for other judges like these, "
        "too; report it where you claim more than what these judges say. adjusted: less the severity of its judges; "
        "report it where generators had different judges."
    ]
    return Table(columns, rows, notes + tell_reasons(*found))


def selves(found: list[dict[str, Any]]) -> Table:
    """Return one row per judge that judged its own model."""
    rows: list[list[Cell]] = []
    for row in found:
        cells: list[Cell] = [keys.level(row["judge"])]
        for part in ("own", "elsewhere"):
            cells += [row[part]["n"], row[part]["mean"], tell_range(row[part]["ci95"]), p_value(row[part]["p"])]
        rows.append([*cells, row["excess"], tell_range(row["excess_ci95"])])
    columns = ["judge", "n own", "own", "95 % interval", "p", "n elsewhere", "elsewhere", "95 % interval", "p"]
    notes = [
        "own and elsewhere: the judge's total minus the mean of the cross-judging others' on the same artifact, which "
        "depends on how harsh these others are. excess: what the judge adds for its own model, each judge having a "
        "severity of its own; report this one. It assumes that a judge is as harsh with every other model, and that "
        "the spread seen is the spread there is; own and elsewhere assume nothing but the scale and independent "
        "artifacts."
    ]
    every = [part for row in found for part in (row, row["own"], row["elsewhere"])]
    return Table([*columns, "excess", "95 % interval"], rows, notes + tell_reasons(*every))


def round_for_people(table: Table, places: int = 3) -> Table:
    """Return the table with numbers and intervals of so many places; JSON and CSV have all of them."""
    step = Decimal(1).scaleb(-places)

    def shorten(cell: Cell) -> Cell:
        if isinstance(cell, PValue):
            return PValue(cell.quantize(step)).to_text(step)
        if isinstance(cell, Range):
            return tell_range([end.quantize(step) + 0 for end in cell.ends])
        return cell.quantize(step) + 0 if isinstance(cell, Decimal) else cell  # + 0: never -0.000

    return replace(table, rows=[[shorten(cell) for cell in row] for row in table.rows])
