"""`normalizer compare`."""

import json
from pathlib import Path
from typing import Any

import click

from normalizer.aggregate.keys import PAIRING, check_key, keys_of
from normalizer.api.ledgers import open_ledgers
from normalizer.commands import options
from normalizer.commands.unknown_levels import suggest_levels
from normalizer.errors import CannotRun
from normalizer.statistics.contrasts import GENERATORS, Contrast, compare
from normalizer.tables import contrast_table
from normalizer.terminal.help_format import Command, option
from normalizer.terminal.output import WIDE, print_document, show_elapsed


@click.command(cls=Command)
@options.add_ledgers
@option(
    "--by KEY",
    "Compare its levels.  [default: generator_model; factors.file for two files of one generator]",
    shell_complete=options.complete_keys,
)
@option(
    "--pair-by KEYS", "Keys that pairs agree in, with commas.", default="artifact", shell_complete=options.complete_keys
)
@options.add_cluster(
    "Of these, the key whose levels are items.  [default: artifact, or else the one with the most levels]"
)
@options.ASSUME
@options.add_format("text", "json", "csv", "md")
@WIDE
@options.add_selection
@options.add_files
def command(
    ledgers: tuple[Path, ...], by: str | None, pair_by: str, cluster: str | None, assume: str, form: str, **asked: Any
) -> int:
    """Compare the levels of KEY, each with each, on pairs that agree in other keys, judge by judge.

    A LEDGER may also be a file of judgements, such as a log: it is read with --dialect or, if it is certain how it is
    to be read, without. Records of a file have the factor `file`, its name.

    By default generators are compared on the artifacts that they share. Differences are tested item by item, and p is
    corrected by Holm's method.
    """
    paired = keys_of(pair_by, PAIRING)
    if not paired:
        raise CannotRun("--pair-by is empty: name the keys that pairs agree in, such as artifact")
    if by is not None and check_key(by) in paired:
        raise CannotRun(f"{by} cannot be both compared and agreed in")
    if cluster is not None and cluster not in paired:
        raise CannotRun(f"--cluster {cluster} is not among the keys that pairs agree in: {', '.join(paired)}")
    chosen = options.read_options(asked)
    folders = options.open_files(ledgers, marked=True)
    key = by or _key_of(folders, all(path.is_file() for path in ledgers))
    with suggest_levels(folders, chosen.where), show_elapsed("compare", shown=not asked["verify"]):
        document = compare(folders, chosen, Contrast(key, paired, cluster, assume))
    print_document(document, form, lambda: contrast_table.with_notes(document))
    return 0


def _key_of(folders: tuple[Path, ...], are_files: bool) -> str:
    """Return the key to compare: generators, or the files if all of them are about one generator."""
    if not are_files or len(folders) < 2:
        return GENERATORS.key
    generators = {json.loads(line).get(GENERATORS.key) for line in open_ledgers(*folders).lines()}
    return GENERATORS.key if len(generators) > 1 else "factors.file"
