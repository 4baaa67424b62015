"""The `zeno` command, also as `python -m zeno`. Ctrl-C ends it as it ends any other, whenever it comes."""

import os
import signal
import sys

from zeno.interrupts import deadly


def run() -> int:
    """Run a command line; interrupted while it loads or starts, die of that signal without a word."""
    try:
        with deadly():
            from zeno.cli import run
        return run()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
        raise


if __name__ == "__main__":
    sys.exit(run())
