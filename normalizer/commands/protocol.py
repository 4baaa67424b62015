"""`normalizer protocol`."""

import click

from normalizer.documents.protocol import version


@click.command()
def command() -> int:
    """Print the protocol version identifier: a digest of the eval schemas and rules. Runs record it."""
    click.echo(version())
    return 0
