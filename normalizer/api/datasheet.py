"""The datasheet of judges: what they were calibrated on, agreement, bias, noise and failures, as one Markdown page."""

from pathlib import Path
from typing import Any

from normalizer.aggregate.summary import Options
from normalizer.checks.instruments import instruments
from normalizer.documents import protocol
from normalizer.errors import CannotRun
from normalizer.ledger.open_ledgers import holds_comparisons
from normalizer.ledger.reader import reading
from normalizer.noise.study_plan import plan
from normalizer.preferences.group_preferences import PreferenceOptions, preferences
from normalizer.statistics.rates import rate_with_interval
from normalizer.tables import calibration_table, plan_table, preferences_table
from normalizer.tables.formats import Cell, Table, write_table


def write_datasheet(folders: tuple[Path, ...], options: Options, calibration: dict[str, Any]) -> str:
    """Return the page about the judges of ledgers, given their calibration document."""
    judges = sorted({row["judge"] for measure in calibration["measures"] for row in measure["judges"]})
    parts = [f"# Datasheet: {', '.join(judges)}", "", _describe_gold(calibration), ""]
    every = [each for each in instruments(folders) if each["judge_model"] in judges]
    tables = [("What judged, and how often it failed", _instruments(every))]
    tables += calibration_table.list_tables(calibration)
    tables += _of_ledgers(folders, options)
    for title, table in tables:
        parts += [f"## {title}", "", write_table(table, "md").rstrip("\n"), ""]
    parts.append(f"Protocol version {protocol.version()}. Every number is that of its own command: calibrate,")
    parts.append("plan, preferences and audit --instruments.")
    return "\n".join(parts) + "\n"


def _describe_gold(document: dict[str, Any]) -> str:
    items = document["items"]
    scale = f" Rubric {document['rubric']}." if document.get("rubric") else ""
    return (
        f"Calibrated on {items['both']} items that have labels of the judges and gold, of {items['gold']} with gold "
        f"by {document['annotators']} annotators (consensus: {document['consensus']}).{scale}"
    )


def _instruments(every: list[dict[str, Any]]) -> Table:
    """Return one row per instrument, with the share of its entries in which the judge gave no verdict."""
    names = ("judge_model", "judge_version", "judge_prompt_version", "prompt_sha256", "judge_settings", "rubric_sha256")
    rows: list[list[Cell]] = []
    for each in every:
        count = each["valid"] + each["invalid"]
        rate, ends = rate_with_interval(each["judge_failed"], count)
        digests = [each[name] and (each[name][:12] if name.endswith("sha256") else each[name]) for name in names]
        rows.append([*digests, each["valid"], each["invalid"], each["judge_failed"], rate, *ends])
    columns = [*names, "valid", "invalid", "failed", "failure rate", "exact95_low", "exact95_high"]
    note = "failed: the judge gave no verdict. What a record does not say is NA. Digests are cut to 12 digits."
    return Table(columns, rows, [note])


def _of_ledgers(folders: tuple[Path, ...], options: Options) -> list[tuple[str, Table]]:
    """Return the tables of noise, or those of the order shown; in place of noise that cannot be told, why."""
    compares = []
    for folder in folders:
        with reading(folder) as ledger:
            compares.append(holds_comparisons(ledger))
    if all(compares):
        asked = PreferenceOptions(by=("judge_model",), where=options.where, rules=options.rules, check=options.check)
        named = preferences_table.list_tables(preferences(folders, asked))
        return [(title, table) for title, table in named if title in ("Order shown", "Verdicts in both orders")]
    try:
        return [("Noise", plan_table.noise(plan(folders, options, None)))]
    except CannotRun as error:
        return [("Noise", Table(["noise"], [[None]], [f"NA: {error}"]))]
