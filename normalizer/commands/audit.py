"""`normalizer audit`."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from normalizer.aggregate import cell_names
from normalizer.checks.audit import audit
from normalizer.checks.reverify import jobs_for
from normalizer.checks.study.findings import findings
from normalizer.documents import protocol
from normalizer.ledger.reader import reading
from normalizer.tables import formats
from normalizer.tables.formats import Table
from normalizer.terminal.output import WIDE, print_table
from normalizer.terminal.progress import LINE


@click.command()
@click.argument("ledger", type=click.Path(path_type=Path), required=False)
@click.option(
    "--study", type=click.Path(path_type=Path), help="Find defects of a study: a folder with ledgers below it."
)
@click.option("--format", "form", type=click.Choice(["text", "json", "csv"]), default="text", show_default=True)
@click.option(
    "--jobs", type=click.IntRange(min=1), help="Worker processes.  [default: one a core on ledgers over 16 MiB]"
)
@click.option(
    "--no-verify", "quick", is_flag=True, help="Do not normalize raw bundles again: check digests, ids and counts only."
)
@WIDE
def command(ledger: Path | None, study: Path | None, form: str, jobs: int | None, quick: bool) -> int:
    """Count what a ledger holds by reason, judge, generator and phase, and check that nothing is lost or forged.

    Every raw bundle is normalized again under its settings, and must give the lines of the ledger. Exit status 1 when
    something is not accounted for, or was normalized under another protocol version and so cannot be verified. With
    --no-verify that is left out: about eight times as fast, and records that were forged together with their digests
    are not noticed.

    With --study, look for defects between files: the same answer under two generators, repeated and missing rows,
    unlabelled self-judging and more, the worst first. Exit status 1 when something was found.
    """
    if (ledger is None) == (study is None):
        raise click.UsageError("give either a LEDGER or --study DIR")
    if quick and (study is not None or jobs is not None):
        raise click.UsageError("--no-verify goes with a LEDGER, without --jobs: there is nothing to share")
    if study is not None:
        return _study(study, form)
    assert ledger is not None  # noqa: S101 - one of the two is given
    with reading(ledger, checked=False) as opened:
        report = audit(opened, jobs or jobs_for(opened), LINE, verify=not quick)
    LINE.clear()
    if form == "text" and sys.stdout.isatty():
        click.echo("\n".join(_head(report)) + "\n")
        for table in _tables(report):
            print_table(table, form)
    else:
        # Escape sequences may be part of a name: do not strip them.
        click.echo({"text": _text, "json": _json, "csv": _csv}[form](report), nl=False, color=True)
    for problem in report["problems"]:
        click.echo(formats.printable(f"conservation does not hold: {problem}"), err=True)
    others = report["verified"]["not_verifiable"]
    for other in others:
        click.echo(
            f"not verified: {other['bundles']} bundles of protocol {_printable(other['protocol'])}, while this program "
            f"has {protocol.version()}: normalize them again with --replace, or audit with the version that made them",
            err=True,
        )
    return 1 if report["problems"] or others else 0


def _study(folder: Path, form: str) -> int:
    found = findings(folder)
    if form == "json":
        click.echo(json.dumps({"findings": [finding._asdict() for finding in found]}, indent=2))
    elif form == "csv":
        rows: list[list[Any]] = [[each.code, each.records, each.of, each.sentence] for each in found]
        click.echo(formats.csv_text(Table(["code", "records", "of", "sentence"], rows, [])), nl=False)
    else:
        for finding in found:
            click.echo(f"{finding.code}: {finding.records} of {finding.of}: {finding.sentence}")
            for example in finding.examples:
                click.echo(f"  {_printable(example)}")
        click.echo(f"{len(found)} found" if found else "nothing found", err=True)
    return 1 if found else 0


_DIGESTS = {
    "match": "every file is as commit.json records it",
    "differ": "files differ from commit.json",
    "none": "none: an earlier version made this ledger; the next `normalizer normalize` into it adds them",
}


def _json(report: dict[str, Any]) -> str:
    return json.dumps(report, indent=2) + "\n"


def _rows(report: dict[str, Any]) -> list[tuple[str, str, str, int]]:
    """Everything that is counted: table, row, column, number."""
    rows = [("counts", "ledger", key, count) for key, count in report["counts"].items()]
    rows += [("verified", "ledger", key, count) for key, count in report["verified"].items() if key != "not_verifiable"]
    rows += [
        ("not_verifiable", row["protocol"], "bundles", row["bundles"]) for row in report["verified"]["not_verifiable"]
    ]
    rows += [("eligibility", "valid", key, count) for key, count in report["eligibility"].items()]
    keys = {"reasons": "code", "judges": "judge_model", "generators": "generator_model", "phases": "phase"}
    for table, key in {**keys, "protocols": "protocol"}.items():
        for row in report[table]:
            name = cell_names.level(row[key])
            rows += [(table, name, column, row[column]) for column in row if column not in (key, "clause")]
    return rows


def _csv(report: dict[str, Any]) -> str:
    return formats.csv_text(Table(["table", "name", "column", "count"], [list(row) for row in _rows(report)], []))


def _head(report: dict[str, Any]) -> list[str]:
    counts, eligible = report["counts"], report["eligibility"]
    return [
        f"bundles: {counts['bundles']} read, {counts['audited']} unreadable",
        f"entries: {counts['entries']} = {counts['valid']} valid + {counts['invalid']} invalid",
        f"valid:   {eligible['eligible']} eligible, {eligible['diagnostic']} diagnostic (phase 0), "
        f"{eligible['self_judged']} self-judged",
        f"verified: {_verified(report['verified'], counts['bundles'] + counts['audited'])}",
        f"digests: {_DIGESTS[report['digests']]}",
    ]


def _verified(verified: dict[str, Any], bundles: int) -> str:
    if "not_compared" in verified:
        return "no bundle was normalized again and compared (--no-verify)"
    return f"{verified['bundles']} of {bundles} bundles give the same lines when they are normalized again"


_TITLES = (
    ("judge", "judges", "judge_model"),
    ("generator", "generators", "generator_model"),
    ("phase", "phases", "phase"),
)
"""Title, table and key of each table of counts."""


def _tables(report: dict[str, Any]) -> Iterator[Table]:
    """The tables of the text, for a terminal."""
    if report["reasons"]:
        columns = ["code", "clause", "records", "bundles"]
        rows = [[reason[name] for name in columns] for reason in report["reasons"]]
        yield Table(["reason", *columns[1:]], rows, [])
    for title, table, key in _TITLES:
        rows = [[cell_names.level(row[key]), row["valid"], row["invalid"]] for row in report[table]]
        yield Table([title, "valid", "invalid"], rows, [])


def _text(report: dict[str, Any]) -> str:
    """The text for a pipe or a file."""
    lines = _head(report)
    if report["reasons"]:
        lines += ["", f"{'reason':<28}{'clause':>7}{'records':>9}{'bundles':>9}"]
        lines += [f"{r['code']:<28}{r['clause']:>7}{r['records']:>9}{r['bundles']:>9}" for r in report["reasons"]]
    for title, table, key in _TITLES:
        lines += ["", f"{title:<28}{'valid':>7}{'invalid':>9}"]
        for row in report[table]:
            name = _printable(cell_names.level(row[key]))
            lines.append(f"{name:<28}{row['valid']:>7}{row['invalid']:>9}")
    return "\n".join(lines) + "\n"


def _printable(name: str) -> str:
    return name if name.isprintable() else json.dumps(name)
