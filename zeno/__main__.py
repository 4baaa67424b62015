"""`python -m zeno` runs the `zeno` command."""

import sys

from zeno.cli.start import run

if __name__ == "__main__":
    sys.exit(run())
