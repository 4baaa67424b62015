"""`normalizer completion SHELL`: a completion script, made by click."""

import click
from click.shell_completion import BashComplete, FishComplete, ZshComplete

from normalizer.terminal.help_format import Command

SHELLS = {"bash": BashComplete, "fish": FishComplete, "zsh": ZshComplete}


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(list(SHELLS)), metavar="SHELL")
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print a completion script. For bash and zsh: eval "$(normalizer completion bash)"."""
    for name in ("normalizer", "eval-normalizer"):
        completion = SHELLS[shell](ctx.find_root().command, {}, name, "_NORMALIZER_COMPLETE")
        # source() would ask the installed bash for its version; the script itself needs no bash to be made.
        click.echo(completion.source_template % completion.source_vars())
