"""The report's sections about scores. Every number opens the records that it is made of."""

import re
from decimal import Decimal
from typing import Any, NamedTuple

from normalizer.aggregate import keys
from normalizer.report import plots
from normalizer.report.drilldown import Drilldowns
from normalizer.report.markup import Html, brief, el, join, table, visible
from normalizer.report.records.lookup import RecordLookup
from normalizer.report.study import Study
from normalizer.tables.formats import p_value
from normalizer.tables.summary_table import FLAGS, dimensions_of
from normalizer.tables.summary_table import notes as summary_notes

_COMMAND = re.compile("`(normalizer [^`]*)`")


class Section(NamedTuple):
    """A section of the page."""

    id: str
    name: str
    """Short, for the line of links."""
    markup: Html


def section(id: str, title: str, lead: str, *children: Any, name: str | None = None) -> Section:
    """A section under its heading."""
    return Section(id, name or title, el("section", el("h2", title), el("p", lead), *children, id=id))


def notes(said: list[str]) -> Html | None:
    """Sentences below a table; a command in backticks is set as code."""
    items = (
        el("li", *(el("code", part) if at % 2 else part for at, part in enumerate(_COMMAND.split(one)))) for one in said
    )
    return el("ul", *items, class_="notes") if said else None


def interval(ends: list[Decimal] | None, places: int = 3) -> str | None:
    """An interval in words."""
    return None if ends is None else f"{brief(ends[0], places)} to {brief(ends[1], places)}"


def label(key: dict[str, Any]) -> str:
    """A group's name."""
    return ", ".join(keys.level(level, ", ") for level in key.values()) or "all"


def headline(study: Study, drilldowns: Drilldowns) -> Section:
    """Means with intervals and n, the invalid rate beside them, and what INVALID records leave open."""
    summary = study.summary
    bounds = {tuple(row["key"].values()): row for row in study.sensitivity["bounds"]}
    rows, drawn = [], []
    for row in summary["rows"]:
        levels = tuple(row["key"].values())
        name, total, bound = label(row["key"]), row["total"], bounds[levels]
        counted = drilldowns.add(f"{name}: records in the mean", study.lookup.group(levels))
        refused = study.lookup.group(levels, "self_judged")
        if not row["n"] and refused.count:
            counted = drilldowns.add(f"{name}: only self-judged, so no mean", refused)
        invalid = drilldowns.add(f"{name}: INVALID records", study.lookup.group(levels, "invalid"))
        rate = study.rates.get(levels)
        said = None if rate is None else f"{percent(rate['rate'])} ({rate['invalid']} of {rate['records']})"
        extremes = [bound["at_minimum"], bound["at_maximum"]] if bound["at_minimum"] is not None else None
        rows.append(
            [
                *map(keys.level, levels),
                el("span", drilldowns.number(total["mean"], counted), class_="strong"),
                drilldowns.number(interval(total["ci95"]), counted if total["ci95"] else None),
                drilldowns.number(row["n"], counted),
                drilldowns.number(row["n_records"], counted),
                drilldowns.number(total["sd"], counted if total["sd"] is not None else None),
                drilldowns.number(said, invalid),
                drilldowns.number(None if rate is None else percents(rate["exact95"]), invalid),
                drilldowns.number(interval(extremes), invalid if bound["invalid"] else None),
                join(_flag(flag) for flag in row["flags"]),
            ]
        )
        if total["mean"] is not None:
            drawn.append(floats(name, total["ci95"], **{"mean": total["mean"], **bound}))
    columns = [*summary["by"], "mean total", "95 % interval", "n", "records", "sd", "invalid", "95 % (exact)"]
    unit = "artifacts, the judges of each averaged first" if summary["unit"] == "artifact" else "records"
    return section(
        "headline",
        "Headline",
        f"Mean total of {unit}. Every underlined number opens the records it is made of, and from there the lines of "
        "the raw bundle. Pale bars and bounds: where the mean would lie if every INVALID record were at an end of the "
        "scale.",
        plots.intervals(drawn, _scale(summary)) if drawn else None,
        table([*columns, "bounds", "flags"], rows, id="t-headline"),
        _dimensions(study, drilldowns),
        notes(summary_notes(summary, 3)),
    )


def _dimensions(study: Study, drilldowns: Drilldowns) -> Html:
    rows = []
    for row in study.summary["rows"]:
        levels = tuple(row["key"].values())
        counted = drilldowns.add(f"{label(row['key'])}: records in the mean", study.lookup.group(levels))
        cells: list[Any] = [*map(keys.level, levels)]
        for name, moments in row["dimensions"].items():
            there = counted
            if "n" in moments:
                having = study.lookup.group_with(levels, study.having[name])
                there = drilldowns.add(f"{label(row['key'])}: records with {name}", having)
            number = drilldowns.number(moments["mean"], there if moments["mean"] is not None else None)
            between = interval(moments["ci95"], 2)
            cells.append(join([number, el("small", f" {between}")]) if between else number)
        rows.append([*cells, drilldowns.number(row["at_min"], counted), drilldowns.number(row["at_max"], counted)])
    columns = [*study.summary["by"], *map(keys.dimension, dimensions_of(study.summary)), "at min", "at max"]
    return join([el("h3", "By dimension"), table(columns, rows, id="t-dimensions")])


def distribution(study: Study) -> Section | None:
    """Return the section with histograms of totals."""
    drawn = [
        {"label": visible(label(row["key"])), "total": float(value), "units": count}
        for row in study.distribution
        for value, count in row["values"]
    ]
    if not drawn:
        return None
    lead = "How many units have which total."
    return section("distribution", "Distribution", lead, plots.distribution(drawn, _scale(study.summary)))


def contrasts(study: Study, drilldowns: Drilldowns) -> Section | None:
    """Paired differences with their tests."""
    parts = [_contrast(report, number, drilldowns, study.lookup) for number, report in enumerate(study.contrasts)]
    if not parts:
        return None
    lead = (
        "Levels of a factor compared on pairs that agree in everything else, judge by judge; the pairs of one item are "
        "one cluster. Holm's correction covers one factor."
    )
    return section("contrasts", "Contrasts", lead, *parts)


def _contrast(report: dict[str, Any], number: int, drilldowns: Drilldowns, lookup: RecordLookup) -> Html:
    rows: dict[bool, list[list[Any]]] = {True: [], False: []}
    drawn = []
    key = report["contrasts"][0]["key"]
    many = len({tuple(row["levels"]) for row in report["contrasts"]}) > 1
    for row in report["contrasts"]:
        is_total = row["measure"] == "total"
        levels = f"{row['levels'][0]} \u2212 {row['levels'][1]}"
        used = lookup.contrast(key, row["levels"], report["paired_by"])
        drilldown = drilldowns.add(f"{key}: {row['levels'][0]} against {row['levels'][1]}", used)
        numbers = [row["n"], row["difference"], interval(row["ci95"]), p_value(row["p"]), p_value(row["p_holm"])]
        linked = drilldowns.numbers(numbers, drilldown)
        rows[is_total].append([row["measure"], levels, *linked, row["unpaired"], row["items"], row["verdict"]])
        if row["difference"] is not None and (is_total or not many):
            drawn.append(floats(levels if many else row["measure"], row["ci95"], difference=row["difference"]))
    columns = [
        "measure",
        "levels",
        "pairs",
        "difference",
        "95 % interval",
        "p",
        "p (Holm)",
        "unpaired",
        "items",
        "verdict",
    ]
    why = sorted({reason for row in report["contrasts"] for reason in row["na"].values()})
    levels = report["contrasts"][0]["levels"]
    which = "Drawn: totals." if many else f"Drawn: {levels[0]} \u2212 {levels[1]}."
    return join(
        [
            el("h3", key),
            el("p", f"Paired by {', '.join(report['paired_by'])}. Interval and p are of one two-sided test. {which}"),
            plots.forest(drawn) if drawn else None,
            table(columns, rows[True], id=f"t-contrast-{number}"),
            el(
                "details",
                el("summary", "Contrasts of each dimension"),
                table(columns, rows[False], id=f"t-contrast-{number}-dimensions"),
                class_="fold",
            ),
            notes([f"NA: {reason}." for reason in why]),
        ]
    )


def _flag(flag: str) -> Html:
    return el("span", flag, class_="badge warn", title=FLAGS.get(flag, flag))


def percent(share: Decimal) -> str:
    """A share in percent."""
    return f"{brief(share * 100, 1)} %"


def percents(ends: list[Decimal]) -> str:
    """An interval of a share in percent."""
    return f"{brief(ends[0] * 100, 1)} to {brief(ends[1] * 100, 1)} %"


def _scale(summary: dict[str, Any]) -> tuple[Decimal, Decimal]:
    low, high = summary["scale"]
    return low, high


def floats(name: str, ends: list[Decimal] | None, **row: Any) -> dict[str, Any]:
    """A row for a plot: its first number with the ends of its interval, or itself, and what it has besides."""
    low, high = ends or [next(iter(row.values()))] * 2
    numbers = {key: float(value) for key, value in row.items() if isinstance(value, Decimal)}
    return {"label": visible(name), **numbers, "low": float(low), "high": float(high)}
