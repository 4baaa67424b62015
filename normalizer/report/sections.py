"""The report's sections about scores and judges. Every number opens the records that it is made of."""

from decimal import Decimal
from typing import Any, NamedTuple

import contract_spec as spec

from normalizer.aggregate.study import Study
from normalizer.report import plots
from normalizer.report.markup import Html, brief, el, join, table, visible
from normalizer.report.members import Members
from normalizer.report.summary_table import notes as summary_notes
from normalizer.report.summary_table import shown
from normalizer.report.trails import Trails

_FLAGS: dict[str, str] = spec.resource("rules/flags.json")
_MOST_MATRICES = 6


class Section(NamedTuple):
    """A section of the page."""

    id: str
    title: str
    markup: Html


def section(id: str, title: str, lead: str, *children: Any) -> Section:
    """A section under its heading."""
    return Section(id, title, el("section", el("h2", title), el("p", lead), *children, id=id))


def notes(said: list[str]) -> Html | None:
    """Sentences below a table."""
    return el("ul", *(el("li", one) for one in said), class_="notes") if said else None


def interval(ends: list[Decimal] | None, places: int = 3) -> str | None:
    """An interval in words."""
    return None if ends is None else f"{brief(ends[0], places)} to {brief(ends[1], places)}"


def label(key: dict[str, Any]) -> str:
    """A group's name."""
    return ", ".join(shown(level) for level in key.values()) or "all"


def headline(study: Study, trails: Trails, members: Members) -> Section:
    """Means with intervals and n, the invalid rate beside them, and what INVALID records leave open."""
    summary = study.summary
    bounds = {tuple(row["key"].values()): row for row in study.statistics["bounds"]}
    rows, drawn = [], []
    for row in summary["rows"]:
        levels = tuple(row["key"].values())
        name, total, bound = label(row["key"]), row["total"], bounds[levels]
        counted = trails.add(f"{name}: records in the mean", members.group(levels))
        refused = members.group(levels, "self_judged")
        if not row["n"] and refused:
            counted = trails.add(f"{name}: only self-judged, so no mean", refused)
        invalid = trails.add(f"{name}: INVALID records", members.group(levels, "invalid"))
        rate = study.rates.get(levels)
        said = None if rate is None else f"{_percent(rate['rate'])} ({rate['invalid']} of {rate['records']})"
        extremes = [bound["at_minimum"], bound["at_maximum"]] if bound["at_minimum"] is not None else None
        rows.append(
            [
                *map(shown, levels),
                el("span", trails.number(total["mean"], counted), class_="strong"),
                trails.number(interval(total["ci95"]), counted if total["ci95"] else None),
                trails.number(row["n"], counted),
                trails.number(row["n_records"], counted),
                trails.number(total["sd"], counted if total["sd"] is not None else None),
                trails.number(said, invalid),
                None if rate is None else _percents(rate["wilson95"]),
                trails.number(interval(extremes), invalid if bound["invalid"] else None),
                join(_flag(flag) for flag in row["flags"]),
            ]
        )
        if total["mean"] is not None:
            ends = total["ci95"] or [total["mean"], total["mean"]]
            drawn.append(_floats({"mean": total["mean"], "low": ends[0], "high": ends[1], **bound}, name))
    columns = [*summary["by"], "mean total", "95 % interval", "n", "records", "sd", "invalid", "95 % (Wilson)"]
    unit = "artifacts, the judges of each averaged first" if summary["unit"] == "artifact" else "records"
    return section(
        "headline",
        "Headline",
        f"Mean total of {unit}. Every underlined number opens the records it is made of, and from there the lines of "
        "the raw bundle. Pale bars: where the mean would lie if every INVALID record were at an end of the scale.",
        plots.intervals(drawn, _scale(summary)) if drawn else None,
        table([*columns, "if invalid at min \u2026 max", "flags"], rows, id="t-headline"),
        _dimensions(study, trails, members),
        notes(summary_notes(summary)),
    )


def _dimensions(study: Study, trails: Trails, members: Members) -> Html:
    rows = []
    for row in study.summary["rows"]:
        levels = tuple(row["key"].values())
        counted = trails.add(f"{label(row['key'])}: records in the mean", members.group(levels))
        cells: list[Any] = [*map(shown, levels)]
        for moments in row["dimensions"].values():
            number = trails.number(moments["mean"], counted if moments["mean"] is not None else None)
            between = interval(moments["ci95"], 2)
            cells.append(join([number, el("small", f" {between}")]) if between else number)
        rows.append([*cells, trails.number(row["at_min"], counted), trails.number(row["at_max"], counted)])
    columns = [*study.summary["by"], *study.rubric.dimensions, "at min", "at max"]
    return join([el("h3", "By dimension"), table(columns, rows, id="t-dimensions")])


def distribution(study: Study) -> Section | None:
    """Histograms."""
    drawn = [
        {"label": visible(label(row["key"])), "total": float(value), "units": count}
        for row in study.distribution
        for value, count in row["values"]
    ]
    if not drawn:
        return None
    lead = "How many units have which total."
    return section("distribution", "Distribution", lead, plots.distribution(drawn, _scale(study.summary)))


def contrasts(study: Study, trails: Trails, members: Members) -> Section | None:
    """Paired differences with their tests."""
    parts = []
    for report in study.contrasts:
        key = report["contrasts"][0]["key"]
        rows, drawn = [], []
        for row in report["contrasts"]:
            levels = f"{row['levels'][0]} \u2212 {row['levels'][1]}"
            used = members.contrast(key, row["levels"], report["paired_by"])
            trail = trails.add(f"{key}: {row['levels'][0]} against {row['levels'][1]}", used)
            numbers = [
                row["n"],
                row["difference"],
                interval(row["ci95"]),
                row["p"],
                row["p_holm"],
            ]
            linked = [trails.number(each, trail if each is not None else None, 4) for each in numbers]
            rows.append([row["measure"], levels, *linked, row["unpaired"], row["method"]])
            if row["difference"] is not None:
                ends = row["ci95"] or [row["difference"], row["difference"]]
                name = row["measure"] if len({*map(str, (one["levels"] for one in report["contrasts"]))}) == 1 else ""
                name = name or f"{row['measure']}: {levels}"
                drawn.append(_floats({"difference": row["difference"], "low": ends[0], "high": ends[1]}, name))
        columns = ["measure", "levels", "pairs", "difference", "95 % interval", "p", "p (Holm)", "unpaired", "method"]
        paired = ", ".join(report["paired_by"])
        why = sorted({reason for row in report["contrasts"] for reason in row["na"].values()})
        parts += [
            el("h3", key),
            el("p", f"Paired by {paired}. First level minus second; sign-flip test, seed {report['seed']}."),
            plots.forest(drawn, "mean difference") if drawn else None,
            table(columns, rows, id=f"t-contrast-{len(parts)}"),
            notes([f"NA: {reason}." for reason in why]),
        ]
    if not parts:
        return None
    lead = "Levels of a factor compared on pairs that agree in everything else. Holm's correction covers one factor."
    return section("contrasts", "Contrasts", lead, *parts)


def judges(study: Study, trails: Trails, members: Members) -> Section:
    """Agreement, severity, what hangs on one judge, self-judging."""
    return section(
        "judges",
        "Judges",
        "How well judges agree on artifacts that both judged, how mild each is, and what hangs on one of them.",
        _agreement(study, trails, members),
        _severity(study, trails, members),
        _without(study, trails, members),
        _selves(study, trails, members),
    )


def _agreement(study: Study, trails: Trails, members: Members) -> Html:
    names = ("mae", "exact", "bias", "kappa", "kappa_quadratic", "alpha_ordinal")
    rows, matrices, reasons = [], [], set()
    for pair in study.agreement["pairs"]:
        trail = trails.add(f"{' and '.join(pair['judges'])}: shared artifacts", members.pair(*pair["judges"]))
        for measure, found in (("total", pair["total"]), *pair["dimensions"].items()):
            reasons |= set(found["na"].values())
            linked = [trails.number(found[name], trail if found[name] is not None else None) for name in names]
            rows.append([" / ".join(pair["judges"]), measure, trails.number(pair["n"], trail), *linked])
        met = pair["total"]["confusion"]
        if met and len(matrices) < _MOST_MATRICES:
            drawn = [
                {"first": float(one["values"][0]), "second": float(one["values"][1]), "n": one["n"]} for one in met
            ]
            matrices.append(plots.confusion(drawn, (pair["judges"][0], pair["judges"][1])))
    shared = trails.add("All judges: shared artifacts", members.shared())
    for measure, found in (("total", study.agreement["all"]["total"]), *study.agreement["all"]["dimensions"].items()):
        reasons |= set(found["na"].values())
        alpha = trails.number(found["alpha_ordinal"], shared if found["alpha_ordinal"] is not None else None)
        blank = [el("span", "", class_="na")] * (len(names) - 1)
        rows.append(["all judges", measure, trails.number(found["n"], shared), *blank, alpha])
    columns = ["judges", "measure", "n", "mean abs. diff.", "equal", "bias", "kappa", "kappa (quadr.)", "alpha (ord.)"]
    said = ["n counts shared artifacts; bias is first minus second judge; alpha is Krippendorff's."]
    return join(
        [
            el("h3", "Agreement"),
            el("p", "Totals that met on the same artifact, and how often:") if matrices else None,
            el("div", *matrices, class_="plots") if matrices else None,
            table(columns, rows, id="t-agreement"),
            notes(said + [f"NA: {reason}." for reason in sorted(reasons)]),
        ]
    )


def _severity(study: Study, trails: Trails, members: Members) -> Html:
    found = study.statistics["severity"]
    rows = []
    for row in found["judges"]:
        trail = trails.add(f"{row['judge']}: all it judged", members.by_judge(row["judge"]))
        numbers = [row["n"], row["effect"], row["se"], interval(row["ci95"])]
        rows.append([row["judge"], *(trails.number(one, trail if one is not None else None) for one in numbers)])
    deviation = "NA" if found["residual_sd"] is None else brief(found["residual_sd"])
    said = [
        f"total = artifact + judge; higher is milder. Residual sd {deviation}, {found['freedom']} degrees of freedom."
    ]
    said += sorted({f"NA: {reason}." for row in found["judges"] for reason in row["na"].values()})
    columns = ["judge", "artifacts", "effect", "se", "95 % interval"]
    return join([el("h3", "Severity"), table(columns, rows, id="t-severity"), notes(said)])


def _without(study: Study, trails: Trails, members: Members) -> Html:
    rows = []
    why = set()
    for judge in study.statistics["leave_one_judge_out"]:
        for row in judge["rows"]:
            left = [
                each
                for each in members.admitted
                if each.levels == tuple(row["key"].values()) and each.plain.get("judge_model") != judge["judge"]
            ]
            trail = trails.add(f"{label(row['key'])} without {judge['judge']}", left if row["n"] else [])
            numbers = [trails.number(row[name], trail) for name in ("n", "mean", "change")]
            rows.append([judge["judge"], label(row["key"]), *numbers])
            why |= {f"NA: {_FLAGS.get(reason, reason)}" for reason in row["na"].values()}
    columns = ["without", "group", "n", "mean total", "change"]
    return join([el("h3", "Without one judge"), table(columns, rows, id="t-without"), notes(sorted(why))])


def _selves(study: Study, trails: Trails, members: Members) -> Html | None:
    rows: list[list[Any]] = []
    for row in study.statistics["self_against_cross"]:
        cells: list[Any] = [row["judge"]]
        for part, own in (("own", True), ("elsewhere", False)):
            words = "its own model's outputs" if own else "outputs of others"
            trail = trails.add(
                f"{row['judge']} on {words}, against the other judges", members.own(row["judge"], own=own)
            )
            numbers = [row[part]["n"], row[part]["mean"], interval(row[part]["ci95"])]
            cells += [trails.number(one, trail if one is not None else None) for one in numbers]
        rows.append([*cells, row["excess"], interval(row["excess_ci95"])])
    if not rows:
        return None
    columns = [
        "judge",
        "n own",
        "own",
        "95 % interval",
        "n others'",
        "others'",
        "95 % interval",
        "excess",
        "95 % interval",
    ]
    lead = "The judge's total minus the mean of cross-judging others on the same artifact; excess is own minus others'."
    return join([el("h3", "Self against cross judging"), el("p", lead), table(columns, rows, id="t-self")])


def drift(study: Study, trails: Trails) -> Section | None:
    """One judge, two versions, the same artifacts."""
    rows, drawn = [], []
    for row in study.drift:
        versions = f"{row['versions'][1]} \u2212 {row['versions'][0]}"
        trail = trails.add(f"{row['judge']}: {versions}", row["places"])
        numbers = [row["n"], row["difference"], interval(row["ci95"]), row["p"], row["equal"]]
        linked = [trails.number(one, trail if one is not None else None) for one in numbers]
        phases = " and ".join(", ".join(map(str, phases)) or "none" for phases in row["phases"])
        rows.append(
            [
                row["judge"],
                versions,
                phases,
                *linked,
                *(trails.number(one, trail) for one in row["dimensions"].values()),
            ]
        )
        if row["difference"] is not None:
            ends = row["ci95"] or [row["difference"], row["difference"]]
            drawn.append(
                _floats(
                    {"difference": row["difference"], "low": ends[0], "high": ends[1]}, f"{row['judge']}: {versions}"
                )
            )
    if not rows:
        return None
    lead = (
        "The same judge under two versions of its prompt or of the protocol, on the artifacts that both versions judged. "
        "Versions are compared whatever phase or version the page selects; nothing of them is put together."
    )
    columns = [
        "judge",
        "versions",
        "phases",
        "n",
        "difference",
        "95 % interval",
        "p",
        "equal",
        *study.rubric.dimensions,
    ]
    plot = plots.forest(drawn, "mean difference of totals") if drawn else None
    return section("drift", "Drift between judge versions", lead, plot, table(columns, rows, id="t-drift"))


def _flag(flag: str) -> Html:
    return el("span", flag.replace("_", " "), class_="badge warn", title=_FLAGS.get(flag, flag))


def _percent(share: Decimal) -> str:
    return f"{brief(share * 100, 1)} %"


def _percents(ends: list[Decimal]) -> str:
    return f"{brief(ends[0] * 100, 1)} to {brief(ends[1] * 100, 1)} %"


def _scale(summary: dict[str, Any]) -> tuple[Decimal, Decimal]:
    low, high = summary["scale"]
    return low, high


def _floats(row: dict[str, Any], name: str) -> dict[str, Any]:
    numbers = {key: float(value) for key, value in row.items() if isinstance(value, Decimal)}
    return {"label": visible(name), **numbers}
