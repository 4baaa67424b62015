"""The values that a shell offers for arguments: shipped dialects, keys of records, pages of the documentation."""

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem


def complete_dialects(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the shipped dialects that begin so, and let the shell add names of files."""
    from normalizer.containers import shipped

    return [*_beginning(begun, shipped.names()), CompletionItem(begun, type="file")]


def complete_keys(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the keys that the last one of a list with commas may become."""
    from normalizer.aggregate.keys import DESIGN_KEYS, FACTOR, RUN_KEYS

    before, comma, last = begun.rpartition(",")
    given = before.split(",")
    known = [key for key in (*DESIGN_KEYS, *RUN_KEYS, FACTOR) if key not in given]
    return [CompletionItem(before + comma + item.value) for item in _beginning(last, known)]


def complete_pages(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the pages that begin so."""
    from contract_spec import pages

    return _beginning(begun, pages.names())


def _beginning(begun: str, names: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(begun)]
