"""`normalizer docs`."""

import sys

import click
from click.shell_completion import CompletionItem
from contract_spec import pages

from normalizer.errors import CannotRun, did_you_mean
from normalizer.terminal.help_format import Command

ALL = "`normalizer docs` lists all pages"


def _complete(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in pages.names() if name.startswith(begun)]


@click.command(cls=Command)
@click.argument("page", required=False, shell_complete=_complete)
def command(page: str | None) -> int:
    """Print a page of the documentation as Markdown, or with no PAGE the names of all pages."""
    if page is None:
        click.echo(pages.overview(), nl=False)
        return 0
    if page not in pages.names():
        raise CannotRun(f"there is no page {page!r}: {did_you_mean(page, pages.names(), ALL)}")
    if sys.stdout.isatty():
        click.echo_via_pager(pages.text(page))
    else:
        click.echo(pages.text(page), nl=False)
    return 0
