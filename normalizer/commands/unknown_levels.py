"""Say which level of a key was probably meant, if no record has the one that a selection names."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from normalizer.aggregate.keys import Level, level_in
from normalizer.errors import CannotRun, did_you_mean
from normalizer.terminal.output import print_note


def tell_unknown_levels(document: dict[str, Any], folders: tuple[Path, ...]) -> None:
    """Say it on standard error, if nothing in a document was selected."""
    if document["records"] and document["left_out"]["not_selected"] == document["records"]:
        _tell(document["where"], folders)


@contextmanager
def suggest_levels(folders: tuple[Path, ...], *selections: Mapping[str, Level]) -> Iterator[None]:
    """Say it on standard error before a refusal, which may be one because nothing was selected."""
    try:
        yield
    except CannotRun:
        for where in selections:
            with suppress(CannotRun):
                _tell(where, folders)
        raise


def _tell(where: Mapping[str, Level], folders: tuple[Path, ...]) -> None:
    """Print a note for each level of a selection that no record has. Reads no further than to the last one found."""
    from normalizer.api.ledgers import open_ledgers

    sought = {key: str(level) for key, level in where.items() if level is not None}
    levels: dict[str, set[str]] = {key: set() for key in sought}
    for line in open_ledgers(*folders).lines() if sought else ():
        record = json.loads(line)
        for key in sought:
            levels[key].add(str(level_in(record, key)))
        if all(level in levels[key] for key, level in sought.items()):
            return
    for key, level in sought.items():
        if level not in levels[key]:
            print_note(f"no record has {key} = {level}: {did_you_mean(level, levels[key] - {'None'})}")
