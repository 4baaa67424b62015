"""The report's sections on judges: agreement, severity, leave-one-out, self-judging, drift."""

from typing import Any

from normalizer.aggregate import keys
from normalizer.report import plots
from normalizer.report.drilldown import Drilldowns
from normalizer.report.markup import Html, brief, el, join, table
from normalizer.report.records.record_table import Behind
from normalizer.report.sections import Section, floats, interval, label, notes, section
from normalizer.report.study import Study
from normalizer.tables.agreement_table import measures
from normalizer.tables.formats import p_value
from normalizer.tables.summary_table import FLAGS

_MOST_MATRICES = 6


def judges(study: Study, drilldowns: Drilldowns) -> Section:
    """Agreement, severity, leave-one-out, self-judging."""
    return section(
        "judges",
        "Judges",
        "Agreement of judges on artifacts that both judged, the severity of each, and the means without each.",
        _agreement(study, drilldowns),
        _severity(study, drilldowns),
        _without(study, drilldowns),
        _selves(study, drilldowns),
    )


def _agreement(study: Study, drilldowns: Drilldowns) -> Html:
    shown = ("mae", "exact", "bias", "kappa", "kappa_quadratic", "alpha_ordinal")
    rows: list[list[Any]] = []
    matrices: list[Html] = []
    reasons: set[str] = set()
    for pair in study.agreement["pairs"]:
        drilldown = drilldowns.add(
            f"{' and '.join(pair['judges'])}: shared artifacts", study.lookup.pair(*pair["judges"])
        )
        judges = " / ".join(keys.level(judge, " / ") for judge in pair["judges"])
        for measure, found in measures(pair):
            reasons |= set(found["na"].values())
            linked = drilldowns.numbers((found[name] for name in shown), drilldown)
            rows.append([judges, measure, drilldowns.number(pair["n"], drilldown), *linked])
        met = pair["total"]["confusion"]
        if met and len(matrices) < _MOST_MATRICES:
            drawn = [
                {"first": float(one["values"][0]), "second": float(one["values"][1]), "n": one["n"]} for one in met
            ]
            names_of = el("figcaption", f"{pair['judges'][0]} (first) and {pair['judges'][1]} (second)")
            matrices.append(el("figure", plots.confusion(drawn), names_of))
    shared = drilldowns.add("All judges: shared artifacts", study.lookup.find_shared())
    for measure, found in measures(study.agreement["all"]):
        reasons |= set(found["na"].values())
        alpha = drilldowns.number(found["alpha_ordinal"], shared if found["alpha_ordinal"] is not None else None)
        blank = [el("span", "", class_="na")] * (len(shown) - 1)
        rows.append(["all judges", measure, drilldowns.number(found["n"], shared), *blank, alpha])
    columns = ["judges", "measure", "n", "mean abs. diff.", "equal", "bias", "kappa", "kappa (quadr.)", "alpha (ord.)"]
    said = ["n counts shared artifacts; bias is first minus second judge; alpha is Krippendorff's."]
    return join(
        [
            el("h3", "Agreement"),
            el("p", "Pairs of totals on one artifact, and how often each occurs:") if matrices else None,
            el("div", *matrices, class_="plots") if matrices else None,
            table(columns, rows, id="t-agreement"),
            notes(said + [f"NA: {reason}." for reason in sorted(reasons)]),
        ]
    )


def _severity(study: Study, drilldowns: Drilldowns) -> Html:
    found = study.agreement["severity"]
    rows = []
    for row in found["judges"]:
        drilldown = drilldowns.add(f"{row['judge']}: all it judged", study.lookup.by_judge(row["judge"]))
        numbers = [row["n"], row["effect"], row["se"], interval(row["ci95"])]
        rows.append([row["judge"], *drilldowns.numbers(numbers, drilldown)])
    deviation = "NA" if found["residual_sd"] is None else brief(found["residual_sd"])
    said = [
        f"total = artifact + judge; higher is milder. Residual sd {deviation}, {found['freedom']} degrees of freedom."
    ]
    said += sorted({f"NA: {reason}." for row in found["judges"] for reason in row["na"].values()})
    columns = ["judge", "artifacts", "effect", "se", "95 % interval"]
    return join([el("h3", "Severity"), table(columns, rows, id="t-severity"), notes(said)])


def _without(study: Study, drilldowns: Drilldowns) -> Html:
    rows = []
    why = set()
    for judge in study.sensitivity["leave_one_judge_out"]:
        for row in judge["rows"]:
            left = study.lookup.without(tuple(row["key"].values()), judge["judge"])
            drilldown = drilldowns.add(f"{label(row['key'])} without {judge['judge']}", left if row["n"] else Behind())
            numbers = [drilldowns.number(row[name], drilldown) for name in ("n", "mean", "change")]
            rows.append([judge["judge"], label(row["key"]), *numbers])
            why |= {f"NA: {FLAGS.get(reason, reason)}" for reason in row["na"].values()}
    columns = ["without", "group", "n", "mean total", "change"]
    return join([el("h3", "Without one judge"), table(columns, rows, id="t-without"), notes(sorted(why))])


def _selves(study: Study, drilldowns: Drilldowns) -> Html | None:
    rows: list[list[Any]] = []
    for row in study.agreement["self_against_cross"]:
        cells: list[Any] = [row["judge"]]
        for part, own in (("own", True), ("elsewhere", False)):
            words = "its own model's outputs" if own else "outputs of others"
            drilldown = drilldowns.add(
                f"{row['judge']} on {words}, against the other judges", study.lookup.own(row["judge"], own)
            )
            numbers = [row[part]["n"], row[part]["mean"], interval(row[part]["ci95"])]
            cells += drilldowns.numbers(numbers, drilldown)
        both = study.lookup.own(row["judge"], True, False)
        drilldown = drilldowns.add(f"{row['judge']} and the other judges on the same artifacts", both)
        excess = [row["excess"], interval(row["excess_ci95"])]
        rows.append([*cells, *drilldowns.numbers(excess, drilldown)])
    if not rows:
        return None
    columns = ["judge", "n own", "own", "95 % interval", "n others'", "others'", "95 % interval", "excess"]
    columns.append("95 % interval")
    lead = (
        "The judge's total minus the mean of cross-judging others on the same artifact. Excess: what it adds for its "
        "own model, each judge having a severity of its own; report this one."
    )
    return join([el("h3", "Self against cross judging"), el("p", lead), table(columns, rows, id="t-self")])


def drift(study: Study, drilldowns: Drilldowns) -> Section | None:
    """One judge, two versions, the same artifacts."""
    rows, by_dimension, drawn = [], [], []
    why: set[str] = set()
    for row in study.drift:
        why |= {f"NA: {reason}." for reason in row["na"].values()}
        versions = f"{row['versions'][1]} \u2212 {row['versions'][0]}"
        drilldown = drilldowns.add(f"{row['judge']}: {versions}", row["behind"])
        numbers = [row["n"], row["difference"], interval(row["ci95"]), p_value(row["p"]), row["equal"]]
        linked = drilldowns.numbers(numbers, drilldown)
        phases = " and ".join(", ".join(map(str, phases)) or "none" for phases in row["phases"])
        rows.append([row["judge"], versions, phases, *linked])
        by_dimension.append(
            [row["judge"], versions, *(drilldowns.number(one, drilldown) for one in row["dimensions"].values())]
        )
        if row["difference"] is not None:
            drawn.append(floats(f"{row['judge']}: {versions}", row["ci95"], difference=row["difference"]))
    if not rows:
        return None
    dimensions = map(keys.dimension, study.rubric.dimensions)
    return section(
        "drift",
        "Drift between judge versions",
        "One judge under two versions of its prompt or of the protocol, on the artifacts that both versions "
        "judged. Versions are compared whatever phase or version the page selects; nothing of them is put together.",
        plots.forest(drawn) if drawn else None,
        table(["judge", "versions", "phases", "n", "difference", "95 % interval", "p", "equal"], rows, id="t-drift"),
        notes(sorted(why)),
        el("h3", "By dimension"),
        table(["judge", "versions", *dimensions], by_dimension, id="t-drift-dimensions"),
        name="Drift",
    )
