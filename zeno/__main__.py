"""The `zeno` command, also as `python -m zeno`. Ctrl-C ends it as it ends any other, whenever it comes."""

import os
import signal
import sys
from typing import NoReturn


def run() -> NoReturn:
    """Run a command line; interrupted while it loads or starts, die of that signal without a word."""
    try:
        from zeno.cli import run

        status = run()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
        raise
    sys.exit(status)


if __name__ == "__main__":
    run()
