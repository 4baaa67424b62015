"""`normalizer claims`."""

from pathlib import Path

import click

from normalizer.aggregate import cell_names
from normalizer.checks.claims import claims
from normalizer.commands.aggregate import VERIFY, check_of
from normalizer.ledger.reader import reading
from normalizer.tables import pretty
from normalizer.tables.formats import Table
from normalizer.terminal.output import WIDE, print_table


@click.command()
@click.argument("ledger", type=click.Path(path_type=Path))
@click.option("--every", is_flag=True, help="List claims that check out, too.")
@click.option("--format", "form", type=click.Choice(["json", "csv", "md", "text"]), default="text", show_default=True)
@WIDE
@VERIFY
def command(ledger: Path, every: bool, form: str, verify: bool) -> int:
    """Compare what judges claim about their scores with the records: numbers under `aggregates`, totals of entries.

    Lists claims that do not check out or cannot be derived. Exit status 1 when a claim does not check out.
    """
    with reading(ledger) as opened:
        check_of(verify)(opened)
        report = claims(opened)
    if not every:
        report["claims"] = [claim for claim in report["claims"] if claim["verdict"] in ("mismatch", "not_derivable")]
    if form == "json":
        click.echo(pretty.dumps(report))
    else:
        columns = ["bundle_sha256", "pointer", "claimed", "statistic", "measure", "recomputed", "records", "verdict"]
        for claim in report["claims"]:
            if claim["measure"] not in (None, "total"):
                claim["measure"] = cell_names.dimension(claim["measure"])
        rows = [[claim[column] for column in columns] for claim in report["claims"]]
        note = ", ".join(f"{verdict} {count}" for verdict, count in report["counts"].items())
        print_table(Table(columns, rows, [f"Claims: {note}."]), form)
    return 1 if report["counts"]["mismatch"] else 0
