"""The `zeno` command, also as `python -m zeno`. Ctrl-C ends it as it ends any other, whenever it comes."""

import os
import signal
import sys

from zeno.cli.interrupts import deadly


def run() -> int:
    """Run a command line; interrupted while it loads or starts, die of that signal without a word."""
    try:
        with deadly():
            from zeno.cli.parser import run
        return run()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
        raise


if __name__ == "__main__":
    sys.exit(run())
