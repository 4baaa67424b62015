"""`normalizer preferences`."""

from pathlib import Path

import click

from normalizer.aggregate.eligibility import Rules
from normalizer.aggregate.intervals import Method
from normalizer.aggregate.keys import keys_of, where_of
from normalizer.aggregate.recipes import read_recipe
from normalizer.commands.options import (
    DIAGNOSTIC,
    ENGINE,
    FORMATS,
    MIX,
    VERIFY,
    WHERE,
    add_files,
    add_format,
    add_ledgers,
    add_recipe,
    choose_check,
    join_values,
    judge_kind_option,
    open_files,
)
from normalizer.commands.value_completion import complete_keys
from normalizer.preferences.comparisons import ALSO
from normalizer.preferences.group_preferences import PreferenceOptions, preferences
from normalizer.tables import formats, preferences_table
from normalizer.terminal.help_format import Command
from normalizer.terminal.output import WIDE, print_table, print_tables, show_elapsed


@click.command(cls=Command)
@add_ledgers
@click.option(
    "--by",
    multiple=True,
    callback=join_values,
    metavar="KEYS",
    shell_complete=complete_keys,
    help="Keys of the groups, with commas; criterion is one of them.",
)
@click.option("--baseline", metavar="NAME", help="Compare every generator with this one.")
@add_recipe("comparisons")
@VERIFY
@WHERE
@DIAGNOSTIC
@MIX
@judge_kind_option("verdicts")
@click.option(
    "--resamples",
    type=click.IntRange(min=100),
    metavar="N",
    default=2000,
    show_default=True,
    help="How many samples are drawn.",
)
@ENGINE
@click.option(
    "--seed", type=click.IntRange(min=0), metavar="N", default=0, show_default=True, help="Of everything that is drawn."
)
@add_format(*FORMATS)
@WIDE
@add_files
def command(
    ledgers: tuple[Path, ...],
    by: str,
    baseline: str | None,
    recipe: str | None,
    recipe_file: tuple[Path, ...],
    where: tuple[str, ...],
    diagnostic: bool,
    mix: tuple[str, ...],
    judge_kinds: tuple[str, ...],
    resamples: int,
    seed: int,
    engine: str,
    verify: bool,
    form: str,
) -> int:
    """Wins, losses and draws of comparisons, with win rates, order effects, ratings and length bias.

    A draw is half a win; both_bad and missing verdicts are counted apart and are in no rate. csv and latex have the
    table of pairs; the other formats have all tables.
    """
    asked = PreferenceOptions(
        by=keys_of(by, ALSO),
        where=where_of(where, ALSO),
        baseline=baseline,
        recipe=read_recipe(recipe, recipe_file),
        rules=Rules(diagnostic, frozenset(mix), frozenset(judge_kinds)),
        method=Method(bootstrap=True, resamples=resamples, seed=seed),
        engine=engine,
        check=choose_check(verify),
    )
    with show_elapsed("preferences", shown=not verify):
        document = preferences(open_files(ledgers), asked)
    if form == "json":
        click.echo(formats.dumps(document))
    elif form in ("csv", "latex"):
        print_table(preferences_table.pairs(document), form)
    else:
        print_tables(preferences_table.list_tables(document), form)
    return 0
