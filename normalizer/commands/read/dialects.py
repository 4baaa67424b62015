"""`normalizer dialects`."""

from typing import Any

import click

from normalizer.commands import options
from normalizer.containers import shipped
from normalizer.tables import formats
from normalizer.terminal.help_format import Command
from normalizer.terminal.output import WIDE, print_line


@click.command(cls=Command)
@click.argument("name", required=False, shell_complete=options.complete_dialects)
@options.add_format("text", "json")
@WIDE
def command(name: str | None, form: str) -> int:
    """List the dialects that come with the program, or print one, to be copied and changed."""
    if name is not None:
        click.echo(shipped.text(name), nl=False)
        return 0
    if form == "json":
        click.echo(formats.dumps({"dialects": [_list_dialect(each) for each in shipped.names()]}))
        return 0
    print_line(f"{'name':<16}files that it reads")
    for each in shipped.names():
        listed = _list_dialect(each)
        also = f" State with --set: {', '.join(listed['needs'])}." if listed["needs"] else ""
        print_line(f"{each:<16}{listed['description']}{also}")
    return 0


def _list_dialect(name: str) -> dict[str, Any]:
    document = shipped.dialect_named(name)
    about = f"{document['description'].split(': ')[0].rstrip('.')}."
    return {"name": name, "description": about, "needs": document.get("needs", [])}
