"""The values that a shell offers for arguments: dialects, keys of records, reasons, pages."""

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem


def complete_dialects(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the shipped dialects that begin so; if there is none, let the shell offer names of files."""
    from normalizer.containers import shipped

    # In bash, an item that stands for files drops all others.
    return _beginning(begun, shipped.names()) or [CompletionItem(begun, type="file")]


def complete_reasons(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the codes of reasons that begin so."""
    import contract_spec as spec

    return _beginning(begun, spec.schema("eval/reason.json")["$defs"]["code"]["enum"])


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
