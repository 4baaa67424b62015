"""`normalizer preferences`."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from normalizer.aggregate.eligibility import Rules
from normalizer.aggregate.intervals import Method
from normalizer.aggregate.keys import keys_of, where_of
from normalizer.aggregate.recipes import read_recipe
from normalizer.commands import options
from normalizer.commands.unknown_levels import suggest_levels, tell_unknown_levels
from normalizer.preferences.comparisons import ALSO
from normalizer.preferences.group_preferences import PreferenceOptions, preferences
from normalizer.tables import preferences_table
from normalizer.terminal.help_format import Command, option
from normalizer.terminal.output import WIDE, print_document, show_elapsed


@click.command(cls=Command)
@options.add_ledgers
@options.add_by("Keys of the groups, with commas; criterion is one of them.")
@option("--baseline NAME", "Compare every generator with this one.")
@options.add_recipe("comparisons")
@options.VERIFY
@options.WHERE
@options.DIAGNOSTIC
@options.MIX
@options.judge_kind_option("verdicts")
@options.RESAMPLES
@options.ENGINE
@options.SEED
@options.add_format(*options.FORMATS)
@WIDE
@options.add_files
def command(ledgers: tuple[Path, ...], form: str, **asked: Any) -> int:
    """Wins, losses and draws of comparisons, with win rates, order effects, ratings and length bias.

    A draw is half a win; both_bad and missing verdicts are counted apart and are in no rate. csv and latex have the
    table of pairs; the other formats have all tables.
    """
    chosen = PreferenceOptions(
        by=keys_of(asked["by"], ALSO),
        where=where_of(asked["where"], ALSO),
        baseline=asked["baseline"],
        recipe=read_recipe(asked["recipe"], asked["recipe_file"]),
        rules=Rules(asked["diagnostic"], frozenset(asked["mix"]), frozenset(asked["judge_kinds"])),
        method=Method(bootstrap=True, resamples=asked["resamples"], seed=asked["seed"]),
        engine=asked["engine"],
        check=options.choose_check(asked["verify"]),
    )
    folders = options.open_files(ledgers)
    with suggest_levels(folders, chosen.where), show_elapsed("preferences", shown=not asked["verify"]):
        document = preferences(folders, chosen)
    tell_unknown_levels(document, folders)
    every = partial(preferences_table.list_tables, document)
    print_document(document, form, partial(preferences_table.pairs, document), every)
    return 0
