"""Start `zeno`, `zeno-mcp` and `python -m zeno`.

The console scripts come here by way of `zeno_normalizer`, which has made sure that the package is ours.
Ctrl-C ends a command at any moment, also while it loads.
"""

import os
import signal
import sys
from collections.abc import Callable, Sequence

from zeno.cli.interrupts import sigint_ends_process


def run() -> int:
    """Run the `zeno` command line of this process and return its exit status."""

    def load() -> Callable[[], int]:
        from zeno.cli.parser import run

        return run

    return _run(load)


def run_mcp() -> int:
    """Run `zeno-mcp DIR [flags]`, which is `zeno mcp DIR [flags]`, or `zeno-mcp --doctor`."""

    def load() -> Callable[[], int]:
        from zeno.cli.parser import run

        if not sys.argv[1:]:
            print("zeno-mcp: name the directory to serve: zeno-mcp DIR [--log TRACE.jsonl]", file=sys.stderr)
            print("Try 'zeno-mcp --help'.", file=sys.stderr)
            raise SystemExit(2)
        sys.argv = [sys.argv[0], *mcp_arguments(sys.argv[1:])]
        return run

    return _run(load)


def mcp_arguments(arguments: Sequence[str]) -> list[str]:
    """Translate arguments of `zeno-mcp` to arguments of `zeno`."""
    if arguments and arguments[0] in ("--doctor", "--version"):
        return ["doctor" if arguments[0] == "--doctor" else "--version", *arguments[1:]]
    return ["mcp", *arguments]


def _run(load: Callable[[], Callable[[], int]]) -> int:
    """Load the command line and run it. On Ctrl-C say so in one line and end by that signal (status 130 in a shell)."""
    try:
        with sigint_ends_process():
            run = load()
        return run()
    except KeyboardInterrupt:
        print("\r\033[K" * sys.stderr.isatty() + "zeno: interrupted", file=sys.stderr, flush=True)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
        raise
