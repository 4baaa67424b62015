"""Options and arguments that several commands share, what they stand for, and the values that a shell offers."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
import contract_spec as spec
from click.shell_completion import CompletionItem

from normalizer.aggregate import keys as record_keys
from normalizer.aggregate.eligibility import MIXABLE, Rules
from normalizer.aggregate.engines.start import ENGINES
from normalizer.aggregate.intervals import Method
from normalizer.aggregate.recipes import recipes_of
from normalizer.aggregate.summary import Options
from normalizer.errors import CannotRun
from normalizer.estimation.paired_test import ASSUMPTIONS, SCALE
from normalizer.ledger.open_ledgers import Check, check_records
from normalizer.ledger.reader import Ledger
from normalizer.terminal.help_format import F, add_all, option
from normalizer.terminal.output import print_note

FORMATS = ("text", "json", "csv", "md", "latex")
_META = "normalizer.commands.files"
PATH = click.Path(path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)
RESAMPLES = option("--resamples N", "How many samples are drawn.", type=click.IntRange(min=100), default=2000)
SEED = option("--seed N", "Of everything that is drawn.", type=click.IntRange(min=0), default=0)


def complete_dialects(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the shipped dialects that begin so; if there is none, let the shell offer names of files."""
    from normalizer.containers import shipped

    # In bash, an item that stands for files drops all others.
    return _beginning(begun, shipped.names()) or [CompletionItem(begun, type="file")]


def complete_reasons(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the codes of reasons that begin so."""
    return _beginning(begun, spec.schema("eval/reason.json")["$defs"]["code"]["enum"])


def complete_keys(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the keys that the last one of a list with commas may become."""
    before, comma, last = begun.rpartition(",")
    given = before.split(",")
    known = [key for key in (*record_keys.DESIGN_KEYS, *record_keys.RUN_KEYS, record_keys.FACTOR) if key not in given]
    return [CompletionItem(before + comma + item.value) for item in _beginning(last, known)]


def _beginning(begun: str, names: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(begun)]


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
    more: dict[str, Any] = {"default": default} if default else {}
    more |= {"callback": join_values, "shell_complete": complete_keys}
    return option("--by KEYS", about, multiple=True, **more)


def add_cluster(about: str) -> Callable[[F], F]:
    """Return the option for the key whose levels are items."""
    return option("--cluster KEY", about, shell_complete=complete_keys)


def add_alpha(about: str) -> Callable[[F], F]:
    """Return the option for the level of a test."""
    level = click.FloatRange(0, 0.5, min_open=True)
    return option("--alpha X", about, type=level, default=0.05)


def add_format(*forms: str) -> Callable[[F], F]:
    """Return the option for how a command prints what it found: text for people, or one of these formats."""
    chosen = click.Choice([form for form in FORMATS if form in forms])
    return option("--format", "How to print it.", "form", type=chosen, default="text")


def add_files(function: F) -> F:
    """Add the options that say how files are read that are given in place of ledgers; see `open_files`."""

    def remember(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
        ctx.meta[f"{_META}.{parameter.name}"] = value

    about = "The scoring scale of files that are given in place of ledgers."
    rubric = option("--rubric FILE", about, type=FILE, expose_value=False, callback=remember)
    about = "How files are written that are given in place of ledgers."
    return option(
        "--dialect NAME|FILE",
        about,
        multiple=True,
        expose_value=False,
        callback=lambda ctx, parameter, values: remember(ctx, parameter, take_one(ctx, parameter, values)),
        shell_complete=complete_dialects,
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


VERIFY = option("--verify", "First normalize the raw bundles again, and stop if the result differs from the records.")


WHERE = option("--where KEY=LEVEL", "Only those with this level of a key; repeatable.", multiple=True)
DIAGNOSTIC = option("--diagnostic", "Also those of phase 0; every output says so.")
MIX = option(
    "--mix", "Let one number be of several of these; it is flagged; repeatable.", multiple=True, choices=MIXABLE
)


def add_recipe(*kinds: str) -> Callable[[F], F]:
    """Return what adds the options for a recipe of `comparisons` or `scores`, and its files."""
    names = sorted({name for kind in kinds for name in recipes_of(kind)})
    return add_all(
        option("--recipe", "Also the score as this board publishes it.", choices=names),
        option("--recipe-file FILE", "A file that the recipe needs; repeatable.", multiple=True, type=FILE),
    )


def judge_kind_option(what: str) -> Callable[[F], F]:
    """Return the option for the kinds of judges whose labels or verdicts count."""
    return option(
        "--judge-kind",
        f"Whose {what} count; repeatable.",
        "judge_kinds",
        multiple=True,
        choices=["model", "human", "reference"],
        default=["model"],
    )


ENGINE = option("--engine", "The engine that computes the sums.", choices=ENGINES, default="duckdb")


add_selection = add_all(
    WHERE,
    DIAGNOSTIC,
    MIX,
    judge_kind_option("labels"),
    ENGINE,
    option("--memory SIZE", "Memory that DuckDB may use before it spills to disk.", default="1200MB"),
    VERIFY,
)
"""Adds the options that say which records are meant."""


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


ASSUME = option(
    "--assume",
    "The assumption of tests. Scale: nothing but the scale, so that there may be rare large losses that no "
    "pair shows. Spread: the spread seen is the spread there is.",
    choices=ASSUMPTIONS,
    default=SCALE,
)


_UNIT_HELP = "Count artifacts, the judges of each averaged first, or records."
_INTERVAL_HELP = "Kind of 95 % interval: t assumes that means are nearly normal, gaffke does not."
add_intervals = add_all(
    option("--unit", _UNIT_HELP, choices=["artifact", "record"], default="artifact"),
    option("--interval", _INTERVAL_HELP, choices=["gaffke", "t"], default="gaffke"),
    add_cluster("Take units with the same level of this key as one item."),
)
"""Adds the options for the unit of counting and the intervals."""


def read_options(asked: dict[str, Any], *also: str) -> Options:
    """Return what a command was given of the options for groups, records, intervals and the engine.

    `also` are further keys. An option that the command does not have is as if it was not given.
    """
    cluster = asked.get("cluster")
    method = Method(
        cluster=None if cluster is None else record_keys.check_key(cluster, record_keys.RUN_NAMES),
        student=asked.get("interval") == "t",
    )
    given = {name: asked[name] for name in ("unit", "engine", "memory") if name in asked}
    kinds = {"judge_kinds": frozenset(asked["judge_kinds"])} if "judge_kinds" in asked else {}
    return Options(
        where=record_keys.where_of(asked["where"], (*record_keys.ALSO_SELECTED, *also)),
        by=record_keys.keys_of(asked.get("by", ""), also),
        rules=Rules(asked["diagnostic"], frozenset(asked["mix"]), **kinds),
        interval=method,
        check=choose_check(asked["verify"]),
        **given,
    )
