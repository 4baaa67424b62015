"""Options and arguments that several commands share, and what they stand for."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from normalizer.aggregate import keys as record_keys
from normalizer.aggregate.eligibility import MIXABLE, Rules
from normalizer.aggregate.engines.start import ENGINES
from normalizer.aggregate.intervals import Method
from normalizer.aggregate.recipes import recipes_of
from normalizer.aggregate.summary import Options
from normalizer.commands.value_completion import complete_dialects, complete_keys
from normalizer.errors import CannotRun, did_you_mean
from normalizer.estimation.paired_test import ASSUMPTIONS, SCALE
from normalizer.ledger.open_ledgers import Check, check_records
from normalizer.ledger.reader import Ledger
from normalizer.terminal.output import print_note

F = TypeVar("F", bound=Callable[..., Any])
FORMATS = ("text", "json", "csv", "md", "latex")
_META = "normalizer.commands.files"
PATH = click.Path(path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)
RESAMPLES = click.option(
    "--resamples",
    type=click.IntRange(min=100),
    metavar="N",
    default=2000,
    show_default=True,
    help="How many samples are drawn.",
)
SEED = click.option(
    "--seed", type=click.IntRange(min=0), metavar="N", default=0, show_default=True, help="Of everything that is drawn."
)


def take_one(_: click.Context, __: click.Parameter, dialects: tuple[str, ...]) -> str | None:
    """Return the dialect that is given. Of two the last would count for all files, unnoticed: they are refused."""
    if len(dialects) > 1:
        raise CannotRun(
            f"--dialect is given {len(dialects)} times, and one is for all files of a command: "
            "normalize those of each dialect with a command of their own, all with the same --out"
        )
    return dialects[0] if dialects else None


def add_by(about: str, *default: str) -> Callable[[F], F]:
    """Return the option for the keys of groups."""
    more: dict[str, Any] = {"default": default, "show_default": True} if default else {}
    more |= {"callback": join_values, "shell_complete": complete_keys}
    return click.option("--by", multiple=True, metavar="KEYS", help=about, **more)


def add_cluster(about: str) -> Callable[[F], F]:
    """Return the option for the key whose levels are items."""
    return click.option("--cluster", metavar="KEY", shell_complete=complete_keys, help=about)


def add_alpha(about: str) -> Callable[[F], F]:
    """Return the option for the level of a test."""
    level = click.FloatRange(0, 0.5, min_open=True)
    return click.option("--alpha", type=level, metavar="X", default=0.05, show_default=True, help=about)


def add_format(*forms: str) -> Callable[[F], F]:
    """Return the option for how a command prints what it found: text for people, or one of these formats."""
    chosen = click.Choice([form for form in FORMATS if form in forms])
    return click.option("--format", "form", type=chosen, default="text", show_default=True, help="How to print it.")


def add_files(function: F) -> F:
    """Add the options that say how files are read that are given in place of ledgers; see `open_files`."""

    def remember(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
        ctx.meta[f"{_META}.{parameter.name}"] = value

    about = "The scoring scale of files that are given in place of ledgers."
    rubric = click.option("--rubric", type=FILE, metavar="FILE", help=about, expose_value=False, callback=remember)
    about = "How files are written that are given in place of ledgers."
    return click.option(
        "--dialect",
        metavar="NAME|FILE",
        multiple=True,
        expose_value=False,
        callback=lambda ctx, parameter, values: remember(ctx, parameter, take_one(ctx, parameter, values)),
        shell_complete=complete_dialects,
        help=about,
    )(rubric(function))


def add_ledgers(function: F) -> F:
    """Add LEDGER..., of which each may also be a file of judgements; see `add_files`."""
    return click.argument("ledgers", nargs=-1, required=True, type=PATH, metavar="LEDGER...")(function)


def read_files_options() -> tuple[str | None, Path | None]:
    """Return the dialect and the rubric that `add_files` was given."""
    meta = click.get_current_context().meta
    return meta.get(f"{_META}.dialect"), meta.get(f"{_META}.rubric")


def open_files(paths: tuple[Path, ...], *, marked: bool = False) -> tuple[Path, ...]:
    """Return a ledger for each path: itself, or one made of a file of judgements and kept while the command runs.

    With `marked`, records of a file have the factor `file`, its name.
    """
    for path in paths:
        if not path.exists() and (
            str(path) in (*record_keys.DESIGN_KEYS, *record_keys.RUN_KEYS) or str(path).startswith(record_keys.FACTOR)
        ):
            raise CannotRun(f"{path} is a key, and there is no such ledger: give several keys with commas in between")
    if not any(path.is_file() for path in paths):
        return paths
    from normalizer.api.sources import ledgers_of  # imports what normalizes files

    made = ledgers_of(paths, *read_files_options(), marked=marked, tell=print_note)
    return click.get_current_context().with_resource(made)


def join_values(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> str:
    """Return the keys of an option that may be given several times, with commas in between."""
    return ",".join(value for value in values if value)


VERIFY = click.option(
    "--verify",
    is_flag=True,
    help="First normalize the raw bundles again, and stop if the result differs from the records.",
)


WHERE = click.option(
    "--where", multiple=True, metavar="KEY=LEVEL", help="Only those with this level of a key; repeatable."
)
DIAGNOSTIC = click.option("--diagnostic", is_flag=True, help="Also those of phase 0; every output says so.")
MIX = click.option(
    "--mix",
    multiple=True,
    type=click.Choice(MIXABLE),
    help="Let one number be of several of these; it is flagged; repeatable.",
)


def add_recipe(*kinds: str) -> Callable[[F], F]:
    """Return what adds the options for a recipe of `comparisons` or `scores`, and its files."""
    names = sorted({name for kind in kinds for name in recipes_of(kind)})

    def add(function: F) -> F:
        name = click.option("--recipe", type=click.Choice(names), help="Also the score as this board publishes it.")
        file = click.option(
            "--recipe-file", multiple=True, type=FILE, metavar="FILE", help="A file that the recipe needs; repeatable."
        )
        return name(file(function))

    return add


def judge_kind_option(what: str) -> Callable[[F], F]:
    """Return the option for the kinds of judges whose labels or verdicts count."""
    return click.option(
        "--judge-kind",
        "judge_kinds",
        multiple=True,
        type=click.Choice(["model", "human", "reference"]),
        default=["model"],
        show_default=True,
        help=f"Whose {what} count; repeatable.",
    )


ENGINE = click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default="duckdb",
    show_default=True,
    help="The engine that computes the sums.",
)


def add_selection(function: Any) -> Any:
    """Add the options that say which records are meant."""
    options = [
        WHERE,
        DIAGNOSTIC,
        MIX,
        judge_kind_option("labels"),
        ENGINE,
        click.option(
            "--memory",
            metavar="SIZE",
            default="1200MB",
            show_default=True,
            help="Memory that DuckDB may use before it spills to disk.",
        ),
        VERIFY,
    ]
    for option in reversed(options):
        function = option(function)
    return function


def choose_check(verify: bool) -> Check:
    """Return the check that `--verify` asks for: against the raw bundles, or of the records alone."""
    if not verify:
        return check_records
    from normalizer.checks.reverify import check_against_bundles  # imports what normalizes bundles
    from normalizer.terminal.output import LINE

    def check(ledger: Ledger) -> None:
        check_against_bundles(ledger, LINE)
        LINE.clear()

    return check


def read_selection(
    where: tuple[str, ...],
    diagnostic: bool,
    mix: tuple[str, ...],
    judge_kinds: tuple[str, ...],
    engine: str,
    memory: str,
    verify: bool,
    also: tuple[str, ...] = (),
) -> Options:
    """Return the options that `add_selection` declares. `also` are further keys."""
    rules = Rules(diagnostic, frozenset(mix), frozenset(judge_kinds))
    return Options(
        where=record_keys.where_of(where, (*record_keys.ALSO_SELECTED, *also)),
        rules=rules,
        engine=engine,
        memory=memory,
        check=choose_check(verify),
    )


ASSUME = click.option(
    "--assume",
    type=click.Choice(list(ASSUMPTIONS)),
    default=SCALE,
    show_default=True,
    help="The assumption of tests. Scale: nothing but the scale, so that there may be rare large losses that no "
    "pair shows. Spread: the spread seen is the spread there is.",
)


def add_intervals(function: Any) -> Any:
    """Add the options for the unit of counting and the intervals."""
    options = [
        click.option(
            "--unit",
            type=click.Choice(["artifact", "record"]),
            default="artifact",
            show_default=True,
            help="Count artifacts, the judges of each averaged first, or records.",
        ),
        click.option(
            "--interval",
            type=click.Choice(["gaffke", "t"]),
            default="gaffke",
            show_default=True,
            help="Kind of 95 % interval: t assumes that means are nearly normal, gaffke does not.",
        ),
        add_cluster("Take units with the same level of this key as one item."),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def read_grouping(
    by: str, unit: str, interval: str, cluster: str | None, *, also: tuple[str, ...] = (), **chosen: Any
) -> Options:
    """Return the options that `--by`, `add_intervals` and `add_selection` were given. `also` are further keys."""
    named = None if cluster is None else record_keys.check_key(cluster, record_keys.RUN_NAMES)
    method = Method(cluster=named, student=interval == "t")
    return replace(read_selection(**chosen, also=also), by=record_keys.keys_of(by, also), unit=unit, interval=method)


def tell_unknown_levels(document: dict[str, Any], folders: tuple[Path, ...]) -> None:
    """Say on standard error which level was probably meant, if no record has one of the selection."""
    if document["records"] == 0 or document["left_out"]["not_selected"] < document["records"]:
        return
    from normalizer.api.ledgers import open_ledgers

    records = [json.loads(line) for line in open_ledgers(*folders).lines()]
    for key, level in document["where"].items():
        levels = {str(found) for record in records if (found := record_keys.level_in(record, key)) is not None}
        if level is not None and str(level) not in levels:
            print_note(f"no record has {key} = {level}: {did_you_mean(str(level), levels)}")
