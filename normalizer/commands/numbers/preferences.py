"""`normalizer preferences`."""

from functools import partial
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
    RESAMPLES,
    SEED,
    VERIFY,
    WHERE,
    add_by,
    add_files,
    add_format,
    add_ledgers,
    add_recipe,
    choose_check,
    judge_kind_option,
    open_files,
)
from normalizer.preferences.comparisons import ALSO
from normalizer.preferences.group_preferences import PreferenceOptions, preferences
from normalizer.tables import preferences_table
from normalizer.terminal.help_format import Command
from normalizer.terminal.output import WIDE, print_document, show_elapsed


@click.command(cls=Command)
@add_ledgers
@add_by("Keys of the groups, with commas; criterion is one of them.")
@click.option("--baseline", metavar="NAME", help="Compare every generator with this one.")
@add_recipe("comparisons")
@VERIFY
@WHERE
@DIAGNOSTIC
@MIX
@judge_kind_option("verdicts")
@RESAMPLES
@ENGINE
@SEED
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
    every = partial(preferences_table.list_tables, document)
    print_document(document, form, partial(preferences_table.pairs, document), every)
    return 0
