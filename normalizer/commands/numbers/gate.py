"""`normalizer gate`."""

from pathlib import Path

import click

from normalizer.aggregate.eligibility import Rules
from normalizer.aggregate.intervals import Method
from normalizer.aggregate.keys import ALSO_SELECTED, RUN_NAMES, check_key, keys_of, where_of
from normalizer.aggregate.summary import Options
from normalizer.commands.options import (
    ASSUME,
    DIAGNOSTIC,
    ENGINE,
    FILE,
    PATH,
    VERIFY,
    WHERE,
    add_alpha,
    add_by,
    add_cluster,
    add_files,
    add_format,
    choose_check,
    open_files,
)
from normalizer.errors import CannotRun
from normalizer.gate.paired_verdicts import MISSING, GateOptions, gate, margin_of
from normalizer.gate.sides import MUST_AGREE
from normalizer.tables import gate_table
from normalizer.terminal.help_format import Command
from normalizer.terminal.output import WIDE, print_document, show_elapsed, write_file

_CRITERION = ("criterion",)
_SELECTED = (*ALSO_SELECTED, *_CRITERION)


@click.command(cls=Command)
@click.argument("base", type=PATH)
@click.argument("candidate", type=PATH)
@add_by("Decide each group by itself, such as factors.topic.")
@click.option(
    "--margin", default="0", metavar="X", help="The largest loss that still counts as no worse.  [default: 0]"
)
@add_alpha("The level of each test.")
@click.option(
    "--measure",
    "measures",
    multiple=True,
    default=["total"],
    metavar="NAME",
    show_default=True,
    help="Total or a dimension to decide on; repeatable.",
)
@click.option("--baseline", metavar="NAME", help="Of comparisons: the generator that both sides were compared with.")
@click.option("--lower-is-better", is_flag=True, help="A lower score is the better one.")
@click.option(
    "--missing",
    type=click.Choice(MISSING),
    default="refuse",
    show_default=True,
    help="Artifacts of BASE that CANDIDATE lacks: no pass if they could turn it, the worst score, or nothing.",
)
@add_cluster("Take artifacts with the same level of this key as one item.")
@ASSUME
@click.option("--always-valid", is_flag=True, help="Let verdicts hold however often one looks while pairs are added.")
@click.option("--allow-undecided", is_flag=True, help="Let an undecided verdict pass.")
@ENGINE
@VERIFY
@WHERE
@click.option("--base-where", multiple=True, metavar="KEY=LEVEL", help="Only those of BASE; repeatable.")
@click.option("--candidate-where", multiple=True, metavar="KEY=LEVEL", help="Only those of CANDIDATE; repeatable.")
@click.option(
    "--mix",
    multiple=True,
    type=click.Choice(MUST_AGREE),
    help="Let the sides differ in this; it is flagged; repeatable.",
)
@DIAGNOSTIC
@click.option("--junit", type=FILE, metavar="FILE", help="Write the verdicts as JUnit XML.")
@click.option("--markdown", type=FILE, metavar="FILE", help="Write a Markdown summary.")
@add_format("text", "json", "csv", "md")
@WIDE
@add_files
def command(
    base: Path,
    candidate: Path,
    by: str,
    margin: str,
    alpha: float,
    measures: tuple[str, ...],
    baseline: str | None,
    lower_is_better: bool,
    missing: str,
    cluster: str | None,
    assume: str,
    always_valid: bool,
    allow_undecided: bool,
    where: tuple[str, ...],
    base_where: tuple[str, ...],
    candidate_where: tuple[str, ...],
    mix: tuple[str, ...],
    diagnostic: bool,
    junit: Path | None,
    markdown: Path | None,
    engine: str,
    verify: bool,
    form: str,
) -> int:
    """Decide whether CANDIDATE is better, worse or no worse than BASE, both judged the same way.

    BASE and CANDIDATE are ledgers, or files of judgements; their records are paired by artifact and judge. Ledgers of
    comparisons are compared by the rate against --baseline, paired by item, judge and order shown; the margin is one of
    that rate.

    Exit status: 0 every verdict passes (better, equivalent, or no worse within the margin), 1 one does not, 2 they
    cannot be compared.
    """
    terms = GateOptions(
        margin=margin_of(margin),
        alpha=alpha,
        measures=tuple(dict.fromkeys(measures)),
        lower_is_better=lower_is_better,
        undecided_passes=allow_undecided,
        mix=frozenset(mix),
        base_where=where_of(base_where, _SELECTED),
        candidate_where=where_of(candidate_where, _SELECTED),
        baseline=baseline,
        missing=missing,
        assume=assume,
        always_valid=always_valid,
    )
    rules = Rules(diagnostic, frozenset(mix) & {"phase", "protocol_version"})
    try:
        base, candidate = open_files((base, candidate))
        with show_elapsed("gate", shown=not verify):
            document = gate(
                base,
                candidate,
                Options(
                    by=keys_of(by, _CRITERION),
                    where=where_of(where, _SELECTED),
                    rules=rules,
                    interval=Method(cluster=None if cluster is None else check_key(cluster, RUN_NAMES)),
                    engine=engine,
                    check=choose_check(verify),
                ),
                terms,
            )
    except CannotRun as error:
        # Files of an earlier run would say that it passed.
        _write({junit: gate_table.refusal_junit(str(error)), markdown: gate_table.refusal_summary(str(error))})
        raise
    _write({junit: gate_table.junit(document), markdown: gate_table.summary(document)})
    print_document(document, form, lambda: gate_table.table(document))
    click.echo(f"gate: {document['verdict']}", err=True)
    return 0 if document["verdict"] == "pass" else 1


def _write(texts: dict[Path | None, str]) -> None:
    """Write the files that were asked for. Raises CannotRun if one cannot be written."""
    for path, text in texts.items():
        if path is not None:
            write_file(path, text.encode())
