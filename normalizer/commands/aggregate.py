"""`normalizer aggregate`."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from normalizer.aggregate.eligibility import MIXABLE, Rules
from normalizer.aggregate.engines.start import ENGINES
from normalizer.aggregate.intervals import Method
from normalizer.aggregate.keys import ALSO_SELECTED, checked, keys_of, where_of
from normalizer.aggregate.summary import Options, aggregate
from normalizer.documents.exact import PLACES
from normalizer.errors import CannotRun
from normalizer.ledger.reader import Ledger
from normalizer.ledger.record_check import Check, check_records
from normalizer.tables import formats, pretty, summary_table
from normalizer.terminal.output import WIDE, print_table
from normalizer.terminal.progress import elapsed

F = TypeVar("F", bound=Callable[..., Any])
FORMATS = ("json", "csv", "md", "latex", "text")
LEDGERS = click.argument("ledgers", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="LEDGER...")


def joined(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> str:
    """The keys of an option that may be given several times, with commas in between."""
    return ",".join(value for value in values if value)


VERIFY = click.option(
    "--verify", is_flag=True, help="Normalize the raw bundles again first, and refuse records that they do not give."
)


def judge_kind_option(what: str) -> Callable[[F], F]:
    """Return the option for the kinds of judges whose labels or verdicts count."""
    return click.option(
        "--judge-kind",
        "judge_kinds",
        multiple=True,
        type=click.Choice(["model", "human", "reference"]),
        default=["model"],
        show_default=True,
        help=f"Whose {what} count. Repeatable.",
    )


def selecting(function: Any) -> Any:
    """Options that say which records are meant."""
    options = [
        click.option("--where", multiple=True, metavar="KEY=LEVEL", help="Take only these records; repeatable."),
        click.option("--diagnostic", is_flag=True, help="Admit phase 0; every output says so."),
        click.option(
            "--mix",
            multiple=True,
            type=click.Choice(MIXABLE),
            help="Mix several of these in one number; flagged. Repeatable.",
        ),
        judge_kind_option("labels"),
        click.option(
            "--engine",
            type=click.Choice(ENGINES),
            default="duckdb",
            show_default=True,
            help="The engine that computes the sums.",
        ),
        click.option(
            "--memory", default="1200MB", show_default=True, help="Memory that DuckDB may use before it spills to disk."
        ),
        VERIFY,
    ]
    for option in reversed(options):
        function = option(function)
    return function


def check_of(verify: bool) -> Check:
    """Return the check that `--verify` asks for: against the raw bundles, or of the records alone."""
    if not verify:
        return check_records
    from normalizer.checks.reverify import check_against_bundles  # imports what normalizes bundles
    from normalizer.terminal.progress import LINE

    def check(ledger: Ledger) -> None:
        check_against_bundles(ledger, LINE)
        LINE.clear()

    return check


def options_from(
    where: tuple[str, ...],
    diagnostic: bool,
    mix: tuple[str, ...],
    judge_kinds: tuple[str, ...],
    engine: str,
    memory: str,
    verify: bool,
) -> Options:
    """The options that `selecting` declares."""
    rules = Rules(diagnostic, frozenset(mix), frozenset(judge_kinds))
    return Options(where=where_of(where), rules=rules, engine=engine, memory=memory, check=check_of(verify))


def spreading(function: Any) -> Any:
    """Options for the unit of counting and the intervals."""
    options = [
        click.option("--unit", type=click.Choice(["artifact", "record"]), default="artifact", show_default=True),
        click.option(
            "--interval",
            type=click.Choice(["t", "bootstrap"]),
            default="t",
            show_default=True,
            help="Kind of 95 % interval.",
        ),
        click.option("--cluster", metavar="KEY", help="Take units with the same level of this key as one cluster."),
        click.option("--resamples", type=click.IntRange(min=100), default=2000, show_default=True),
        click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def grouped(
    by: str, unit: str, interval: str, cluster: str | None, resamples: int, seed: int, **chosen: Any
) -> Options:
    """Return the options that `--by`, `spreading` and `selecting` were given."""
    method = Method(
        bootstrap=interval == "bootstrap",
        cluster=None if cluster is None else checked(cluster, ALSO_SELECTED),
        resamples=resamples,
        seed=seed,
    )
    return replace(options_from(**chosen), by=keys_of(by), unit=unit, interval=method)


@click.command()
@LEDGERS
@click.option("--by", multiple=True, callback=joined, metavar="KEYS", help="Keys of the groups, with commas.")
@spreading
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--places", type=click.IntRange(0, 12), default=PLACES, show_default=True, help="Decimal places.")
@click.option(
    "--cells",
    type=click.Choice(["mean", "mean-ci", "mean-sd"]),
    help="A table for a paper: each cell is a mean, with half of its interval or its standard deviation.",
)
@click.option("--columns", default="", metavar="NAMES", help="Only these columns, with commas, in this order.")
@click.option("--rename", multiple=True, metavar="OLD=NEW", help="Another name for a column; repeatable.")
@click.option("--bold", type=click.Choice(["highest", "lowest"]), help="With --cells: the best of each column in bold.")
@click.option("--fit", is_flag=True, help="LaTeX that fits one column of a page.")
@WIDE
@selecting
def command(
    ledgers: tuple[Path, ...],
    form: str,
    places: int,
    cells: str | None,
    columns: str,
    rename: tuple[str, ...],
    bold: str | None,
    fit: bool,
    **chosen: Any,
) -> int:
    """Mean, spread and interval of total and dimensions, group by group, over VALID and eligible records only.

    KEYS are judge_model, generator_model, protocol_version, judge_prompt_version, phase, run_id and factors.NAME.
    With the unit artifact the judges of each artifact are averaged first. Records left out are counted by reason.
    """
    # A table for a paper is rounded once, when it is written.
    with elapsed("aggregate", shown=not chosen["verify"]):
        summary = aggregate(ledgers, replace(grouped(**chosen), places=places if cells is None else places + 12))
    if cells is not None or columns or rename or fit:
        if form == "json":
            raise CannotRun("--cells, --columns, --rename and --fit are for tables: choose csv, md, latex or text")
        table = (
            _table(summary, form) if cells is None else summary_table.published(summary, cells, places, **_best(bold))
        )
        wanted = tuple(name.strip() for name in columns.split(",")) if columns else ()
        table = formats.chosen(table, wanted, _renamed(rename))
        if fit and form == "latex":
            click.echo(formats.latex(table, fit=True), nl=False, color=True)
        else:
            print_table(table, form)
        return 0
    if form == "json":
        click.echo(pretty.dumps(summary))
    else:
        print_table(_table(summary, form), form)
    return 0


def _table(summary: dict[str, Any], form: str) -> formats.Table:
    return summary_table.wide(summary) if form == "csv" else summary_table.narrow(summary)


def _best(bold: str | None) -> dict[str, bool]:
    return {} if bold is None else {"lower_is_better": bold == "lowest"}


def _renamed(texts: tuple[str, ...]) -> dict[str, str]:
    names = {}
    for text in texts:
        old, sign, new = text.partition("=")
        if not sign or not new:
            raise CannotRun(f"--rename {text} gives no name: write OLD=NEW")
        names[old] = new
    return names
