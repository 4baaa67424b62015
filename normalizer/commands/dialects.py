"""`normalizer dialects`."""

import click

from normalizer.containers import shipped
from normalizer.terminal.output import WIDE, print_line


@click.command()
@click.argument("name", required=False)
@WIDE
def command(name: str | None) -> int:
    """List the dialects that come with the program, or print one, to be copied and changed."""
    if name is not None:
        click.echo(shipped.text(name), nl=False)
        return 0
    print_line(f"{'name':<16}files that it reads")
    for each in shipped.names():
        document = shipped.dialect_named(each)
        needs = document.get("needs", [])
        also = f" State with --set: {', '.join(needs)}." if needs else ""
        print_line(f"{each:<16}{document['description'].split(': ')[0].rstrip('.')}.{also}")
    return 0
