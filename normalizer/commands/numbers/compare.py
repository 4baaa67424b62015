"""`normalizer compare`."""

import json
from pathlib import Path
from typing import Any

import click

from normalizer.aggregate.keys import PAIRING, check_key, keys_of
from normalizer.api.ledgers import open_ledgers
from normalizer.commands.options import (
    ASSUME,
    add_cluster,
    add_files,
    add_format,
    add_ledgers,
    add_selection,
    open_files,
    read_selection,
)
from normalizer.commands.value_completion import complete_keys
from normalizer.errors import CannotRun
from normalizer.statistics.contrasts import GENERATORS, Contrast, compare
from normalizer.tables import contrast_table
from normalizer.terminal.help_format import Command
from normalizer.terminal.output import WIDE, print_document, show_elapsed


@click.command(cls=Command)
@add_ledgers
@click.option(
    "--by",
    metavar="KEY",
    shell_complete=complete_keys,
    help="Compare its levels.  [default: generator_model; factors.file for two files of one generator]",
)
@click.option(
    "--pair-by",
    default="artifact",
    show_default=True,
    metavar="KEYS",
    shell_complete=complete_keys,
    help="Keys that pairs agree in, with commas.",
)
@add_cluster("Of these, the key whose levels are items.  [default: artifact, or else the one with the most levels]")
@ASSUME
@add_format("text", "json", "csv", "md")
@WIDE
@add_selection
@add_files
def command(
    ledgers: tuple[Path, ...],
    by: str | None,
    pair_by: str,
    cluster: str | None,
    assume: str,
    form: str,
    **chosen: Any,
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
    options = read_selection(**chosen)
    folders = open_files(ledgers, marked=True)
    key = by or _key_of(folders, all(path.is_file() for path in ledgers))
    with show_elapsed("compare", shown=not chosen["verify"]):
        document = compare(folders, options, Contrast(key, paired, cluster, assume))
    print_document(document, form, lambda: contrast_table.with_notes(document))
    return 0


def _key_of(folders: tuple[Path, ...], are_files: bool) -> str:
    """Return the key to compare: generators, or the files if all of them are about one generator."""
    if not are_files or len(folders) < 2:
        return GENERATORS.key
    generators = {json.loads(line).get(GENERATORS.key) for line in open_ledgers(*folders).lines()}
    return GENERATORS.key if len(generators) > 1 else "factors.file"
