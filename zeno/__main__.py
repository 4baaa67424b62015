"""`python -m zeno`."""

from zeno.cli import run

run()
