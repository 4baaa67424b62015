"""The `zeno` command, also as `python -m zeno`. Ctrl-C ends it as it ends any other, whenever it comes."""

import os
import signal
import sys


def run() -> int:
    """Run a command line; interrupted while it loads or starts, die of that signal without a word."""
    raising = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    try:
        if raising:
            # An exception would not do while it loads: native modules that import others panic, and print that.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        from zeno.cli import run

        if raising:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return run()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
        raise


if __name__ == "__main__":
    sys.exit(run())
