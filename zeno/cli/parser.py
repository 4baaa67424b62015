"""The command line: the commands and their flags.

Exit status: 0 success, 1 the command ran and its answer is an error, 2 it could not run.
"""

import argparse
import io
import os
import re
import sys
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

import contract_spec as spec
from contract_spec.operations import operations

from zeno.cli.flags import EPILOG, Commands, take_directories
from zeno.cli.help_format import HelpFormatter, format_help
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
    parser = make_parser(of_trace="trace" in argv)
    options, rest = parser.parse_known_args(argv)
    if not hasattr(options, "run") and not rest:
        parser.print_help(sys.stderr)
        return 2
    # argparse does not take words after a flag by itself.
    listed = next((name for name in ("pairs", "directories") if hasattr(options, name)), None)
    words = [text for text in rest if listed and not text.startswith("-")]
    if len(words) < len(rest):
        used = getattr(options, "parser", parser)
        used.error(f"unrecognized arguments: {' '.join(text for text in rest if text not in words)}")
    if listed and words:
        setattr(options, listed, [*getattr(options, listed), *words])
    status: int = 0
    try:
        take_directories(options)
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


GROUPS: dict[str, Sequence[str]] = {
    "Serve": ("serve", "mcp", "http"),
    "Ask": ("call", "shell"),
    "Trust": ("trace",),
    "Learn": ("docs", "schema", "doctor"),
}
"""The commands under headings."""

UNLISTED = ("completion", "man")
"""Commands that a package or a shell's start-up file runs, and no list shows."""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in two lines. The usage of a server is longer than a newcomer reads."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **{"formatter_class": HelpFormatter, "add_help": False, **settings})
        self.add_argument("-h", "--help", action="help", help="show this message and exit")
        # The parser of the command that was typed tells what its words should have been.
        self.set_defaults(parser=self)

    def format_help(self) -> str:
        return format_help(self, GROUPS if self.prog == "zeno" else {})

    def error(self, message: str) -> NoReturn:
        end = self._suggest(message) or self._explain(message)
        if unknown := re.match(r"argument COMMAND: invalid choice: '([^']*)' \(choose from (.*)\)$", message):
            listed = [name.strip("'") for name in unknown[2].split(", ") if name.strip("'") not in UNLISTED]
            message = f"no command is called {unknown[1]}"
            end = end or f"; there are {', '.join(listed)}"
        self.exit(2, f"{self.prog}: error: {message}{end}\nTry '{self.prog} --help'.\n")

    def _explain(self, message: str) -> str:
        """Return the end of a message about a word that is missing: what it takes, and what it is."""
        lacking = re.search(r"arguments are required: (--[^ ,]*)$", message)
        flag = lacking[1] if lacking else None
        named = (action for action in self._actions if flag in action.option_strings)
        return next((f" {action.metavar}: {action.help}" for action in named), "")

    def _suggest(self, message: str) -> str:
        """Return the end of a message about a name that does not exist: the one that was probably meant."""
        unknown = re.search(r"invalid choice: '([^']*)'|unrecognized arguments: (-[^\s=]*)", message)
        if unknown is None:
            return ""
        choices = [str(one) for action in self._actions for one in action.choices or ()]
        wrong = unknown[1] or unknown[2]
        if wrong in operations():
            return f"; did you mean zeno call . {wrong}?"
        if unknown[1] and self.prog == "zeno" and ("/" in wrong or wrong in (".", "..")):
            return f"; did you mean zeno call {wrong} list_files, or zeno mcp {wrong}?"
        if self.prog == "zeno call":
            from zeno.interfaces.key_value import suggest_argument  # not needed to start

            if key := suggest_argument(wrong.strip("-").replace("-", "_")):
                return f"; arguments are KEY=VALUE, did you mean {key}=...?"
        near = get_close_matches(wrong, sorted({*choices} if unknown[1] else {*_flags(self)}), 3)
        # Of equals, the one with the same letters: --prot is --port, not --root.
        near.sort(key=lambda name: sorted(name) != sorted(wrong))
        return f"; did you mean {near[0]}?" if near else ""


def _flags(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the flags of a parser and of all its commands."""
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _flags(inner)


class _Version(argparse.Action):
    """Look the version up only on --version: it takes longer than the rest of the command line."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"zeno {version('zeno-normalizer')} (protocol {spec.PROTOCOL_VERSION})")
        parser.exit()


def make_parser(*, of_trace: bool = True) -> argparse.ArgumentParser:
    """Return the parser. The many commands of `trace` are added only if `of_trace`, to save time."""
    parser = _Parser(
        prog="zeno",
        description="A read-only, deterministic retrieval server for language-model agents.",
        epilog=f'{EPILOG} Completions: eval "$(zeno completion bash)". Manual page: zeno man | man -l -',
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    inner: Commands = parser.add_subparsers(metavar="COMMAND")
    for add in (add_serve, add_mcp, add_http, add_shell, add_call, add_schema, add_docs, add_doctor):
        add(inner)
    add_completion(inner, make_parser)
    add_manual(inner, make_parser)
    trace = inner.add_parser(
        "trace",
        help="check, replay, verify, measure, see and write traces",
        description="Work with the traces that zeno serve --log writes.",
        epilog="Worked through from first question to verified claims: zeno docs investigation.",
    )
    if of_trace:
        from zeno.cli.trace_parser import add_commands

        add_commands(trace)
    return parser
