"""`normalizer docs`."""

import click
from contract_spec import pages

from normalizer.errors import CannotRun, did_you_mean


@click.command()
@click.argument("page", required=False)
def command(page: str | None) -> int:
    """Print a page of the documentation as Markdown, or with no PAGE the names of all pages."""
    names = pages.names()
    if page is None:
        width = max(map(len, names), default=0)
        for name in names:
            click.echo(f"{name:<{width}}  {pages.title(name)}")
        return 0
    if page not in names:
        raise CannotRun(f"no page is called {page}: {did_you_mean(page, names)}")
    click.echo(pages.text(page), nl=False)
    return 0
