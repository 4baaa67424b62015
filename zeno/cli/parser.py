"""The command line: the commands and their flags.

Exit status: 0 success, 1 the command ran and its answer is an error, 2 it could not run.
"""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import contract_spec as spec

from zeno.cli import commands
from zeno.cli.flags import add_cache, add_root, add_server, port, positive
from zeno.cli.printing import forget_output
from zeno.errors import CannotRun

EPILOG = "The protocol is explained by zeno docs protocol; its schemas are printed by zeno schema."


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
    inner = parser.add_subparsers(metavar="COMMAND")

    serve = inner.add_parser(
        "serve",
        help="answer JSON lines on standard input",
        description="Answer one JSON object a line on standard input with one on standard output, until input ends.",
        epilog=EPILOG,
    )
    add_server(serve)
    serve.set_defaults(run=commands.serve)

    # Several clients share these servers.
    max_seconds: int = spec.resource("rules/request_limits.json")["max_seconds"]
    mcp = inner.add_parser(
        "mcp",
        help="answer the Model Context Protocol on standard input",
        description="Serve every operation as a tool of the Model Context Protocol over standard input and output.",
        epilog="Needs the extra: pip install 'zeno-normalizer[mcp]'. How to set up agents: zeno docs doors.",
    )
    add_server(mcp, max_seconds, for_agents=True)
    mcp.add_argument(
        "--ignore-client-roots",
        action="store_true",
        help="serve DIR whole, even to a client that has roots of its own inside DIR",
    )
    mcp.set_defaults(run=commands.mcp)

    http = inner.add_parser(
        "http",
        help="answer HTTP requests",
        description="Serve operations at POST /v1/ops/OP, request lines at POST /v1/jsonl, MCP at /mcp, "
        "GET /openapi.json and GET /healthz; with --log also POST /v1/claims.",
        epilog="Needs the extra: pip install 'zeno-normalizer[http]'. Documentation: zeno docs doors.",
    )
    add_server(http, max_seconds, for_agents=True)
    http.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    http.add_argument("--port", type=port, default=8717, help="port to listen on, 0 for any free one (default: 8717)")
    http.add_argument(
        "--token-file", metavar="FILE", help="demand this token; needed for any address that is not loopback"
    )
    http.add_argument(
        "--allow-host",
        metavar="NAME",
        action="append",
        default=[],
        help="also answer to this name in the Host header, besides localhost and plain addresses; may be repeated",
    )
    http.add_argument(
        "--client-timeout",
        type=positive,
        metavar="N",
        default=30,
        help="close connections on which a client sends or takes nothing for N seconds (default: 30)",
    )
    http.set_defaults(run=commands.http)

    shell = inner.add_parser(
        "shell",
        help="ask by hand, with completion and history",
        description="A prompt for people: type an operation and its arguments, read the answer as text.",
        epilog="Example: at the prompt, type: grep TODO paths=src max_hits=5",
    )
    add_root(shell)
    add_cache(shell)
    shell.set_defaults(run=commands.shell, no_cache=False)

    call = inner.add_parser(
        "call",
        help="run one operation and print its answer",
        description="Run one operation and print its answer. Exits 1 when the answer is an error.",
        epilog="Examples: zeno call read_file README.md --root . ; zeno call grep TODO src max_hits=5 --root .",
    )
    call.add_argument("op", metavar="OP", help="name of the operation, such as list_files")
    call.add_argument(
        "pairs",
        metavar="ARGUMENT",
        nargs="*",
        default=[],
        help="KEY=VALUE: strings as they are, the rest as JSON; repeat a list's key. The first may be the value alone, "
        "and those behind it paths where the operation takes any",
    )
    call.add_argument("--args", metavar="JSON", help="all arguments as one JSON object, instead of single ones")
    add_root(call)
    form = call.add_mutually_exclusive_group()
    form.add_argument("--text", action="store_true", help="print text for people; the default on a terminal")
    form.add_argument("--json", action="store_true", help="print the response line; the default elsewhere")
    form.add_argument("--pretty", action="store_true", help="print the response as indented JSON")
    call.set_defaults(run=commands.call)

    schema = inner.add_parser(
        "schema",
        help="print the schemas of the protocol",
        description="Print one JSON Schema of the contract, or with no NAME all of them in one object.",
    )
    schema.add_argument("name", metavar="NAME", nargs="?", help="such as grep, request or zeno/ops/grep.json")
    schema.add_argument("--list", action="store_true", help="print the names only")
    schema.set_defaults(run=commands.schema)

    docs = inner.add_parser(
        "docs",
        help="print a page of the documentation",
        description="Print a page of the documentation as Markdown, or with no PAGE the names of all pages.",
    )
    docs.add_argument("page", metavar="PAGE", nargs="?", help="such as protocol, doors or trace")
    docs.set_defaults(run=commands.docs)

    doctor = inner.add_parser(
        "doctor",
        help="check this installation and what the system offers",
        description="Check versions, names that clash with other packages, extras, inotify, openat2 and Landlock. "
        "Exits 1 when something does not work.",
    )
    doctor.add_argument("--format", choices=("text", "json"), default="text", help="how to print (default: text)")
    doctor.set_defaults(run=commands.doctor)

    completion = inner.add_parser(
        "completion",
        help="print a completion script for a shell",
        description='Print a completion script. For bash and zsh: eval "$(zeno completion bash)".',
    )
    completion.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")
    completion.set_defaults(run=lambda options: commands.completion(options, _parser(of_trace=True)))

    manual = inner.add_parser(
        "man",
        help="print the manual page",
        description="Print the manual page, for `zeno man | man -l -` or a folder of manual pages.",
    )
    manual.set_defaults(run=lambda _: commands.manual(_parser(of_trace=True)))

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
