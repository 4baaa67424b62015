"""The command line: the commands and their flags.

Exit status: 0 success, 1 the command ran and its answer is an error, 2 it could not run.
"""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import NoReturn

import contract_spec as spec

from zeno.cli.flags import EPILOG, Commands
from zeno.cli.printing import forget_output
from zeno.cli.reference import add_completion, add_docs, add_doctor, add_manual, add_schema
from zeno.cli.requests import add_call, add_shell
from zeno.cli.servers import add_http, add_mcp, add_serve
from zeno.errors import CannotRun


def run() -> int:
    """Run the `zeno` command in its own process and return the exit status."""
    _open_standard_streams()
    return main()


def _open_standard_streams() -> None:
    """Open closed standard streams on /dev/null, so that the root or the log does not get their descriptors."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    # A closed stdin reads as empty and a closed stderr drops messages. A closed stdout is reported by the commands that
    # need it.
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115 - as long as the process
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115 - as long as the process
    for stream in (sys.stdout, sys.stderr):
        # JSON is UTF-8 in every locale; characters that cannot be encoded are escaped.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def main(argv: Sequence[str] | None = None) -> int:
    """Parse flags, run one subcommand, return the exit status."""
    argv = sys.argv[1:] if argv is None else argv
    parser = _parser(of_trace="trace" in argv)
    options, rest = parser.parse_known_args(argv)
    if not hasattr(options, "run") and not rest:
        parser.print_help(sys.stderr)
        return 2
    # argparse does not take KEY=VALUE after a flag by itself.
    pairs = [text for text in rest if hasattr(options, "pairs") and not text.startswith("-")]
    if len(pairs) < len(rest):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if pairs:
        options.pairs = [*options.pairs, *pairs]
    status: int = 0
    try:
        status = options.run(options)
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except BrokenPipeError:
        # The reader has closed the pipe.
        forget_output()
        return status
    except OSError as error:
        forget_output()
        print(f"zeno: cannot go on: {error.strerror or error}", file=sys.stderr)
        return 2
    except CannotRun as error:
        print(f"zeno: {error}", file=sys.stderr)
        return 2


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in two lines. The usage of a server is longer than a newcomer reads."""

    def error(self, message: str) -> NoReturn:
        if message == "the following arguments are required: --root":
            message = "name the directory to work on, such as --root ."
        self.exit(2, f"{self.prog}: error: {message}\nTry '{self.prog} --help'.\n")


class _Version(argparse.Action):
    """Look the version up only on --version: it takes longer than the rest of the command line."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"zeno {version('zeno-normalizer')} (protocol {spec.PROTOCOL_VERSION})")
        parser.exit()


def _parser(*, of_trace: bool) -> argparse.ArgumentParser:
    """Return the parser. The many commands of `trace` are added only if `of_trace`, to save time."""
    parser = _Parser(
        prog="zeno",
        description="A read-only, deterministic retrieval server for language-model agents.",
        epilog=EPILOG,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    inner: Commands = parser.add_subparsers(metavar="COMMAND")
    for add in (add_serve, add_mcp, add_http, add_shell, add_call, add_schema, add_docs, add_doctor):
        add(inner)
    whole = partial(_parser, of_trace=True)
    add_completion(inner, whole)
    add_manual(inner, whole)
    trace = inner.add_parser(
        "trace",
        help="check, replay, verify, measure, see and write traces",
        description="Work with the traces that zeno serve --log writes.",
        epilog="Worked through from first question to verified claims: zeno docs trace.",
    )
    if of_trace:
        from zeno.cli.trace_parser import add_commands

        add_commands(trace)
    return parser
