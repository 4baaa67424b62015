"""The flags of `zeno trace ...`. The commands are in `trace_read` and `trace_write`, loaded when run.

Exit status: 0 fine, 1 it ran and found something, 2 it could not run. `record` ends as the command it ran.
"""

import argparse
from collections.abc import Callable
from importlib import import_module
from typing import Any

from zeno.cli.flags import add_directories, positive
from zeno.cli.policy_flags import add_policy

DOCS = "Worked through from first question to verified claims: zeno docs investigation."


def add_commands(trace: argparse.ArgumentParser) -> None:
    """Add the commands of `zeno trace` to it."""
    inner = trace.add_subparsers(metavar="COMMAND", required=True)

    lint = _reader(inner, "lint", "check a trace for errors, without the tree", needs_root=None)
    lint.add_argument("--strict", action="store_true", help="let warnings count as well as errors")
    lint.set_defaults(run=_later("trace_read", "lint"))

    replay = _reader(inner, "replay", "run every request again and compare the answers", needs_root=True)
    replay.add_argument(
        "--times", action="store_true", help="let a stat answer count as different when only times may have changed"
    )
    replay.set_defaults(run=_later("trace_read", "replay"))

    verify = _reader(inner, "verify", "check the evidence of every claim against the tree", needs_root=True)
    verify.add_argument("--require-claims", action="store_true", help="let a trace without a claim fail, too")
    verify.set_defaults(run=_later("trace_read", "verify"))

    coverage = _reader(inner, "coverage", "list the lines of each file that were delivered", needs_root=True)
    coverage.add_argument("--all", action="store_true", help="also list files of which no line was delivered")
    coverage.add_argument("--wide", action="store_true", help="on a terminal: do not cut rows to its width")
    coverage.set_defaults(run=_later("trace_read", "coverage"))

    view = _reader(inner, "view", "make one self-contained page that shows the trace", needs_root=False)
    view.add_argument("--out", metavar="FILE", required=True, help="the page to write; - is standard output")
    view.add_argument("--title", metavar="TEXT", help="the title of the page (default: the name of the trace)")
    view.add_argument(
        "--lines",
        choices=("delivered", "cited", "none"),
        default="delivered",
        help="which lines of the tree to put into the page (default: all that were delivered, up to 8 MiB)",
    )
    view.set_defaults(run=_later("trace_read", "view"))
    _add_writers(inner)


def _reader(commands: Any, name: str, what: str, needs_root: bool | None) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=what, description=what[0].upper() + what[1:] + ("" if what.endswith("?") else "."), epilog=DOCS
    )
    parser.add_argument("trace", metavar="TRACE", help="a trace as zeno serve --log writes it; - is standard input")
    if needs_root is not None:
        add_directories(parser)
        parser.set_defaults(needs_root=needs_root)
        parser.add_argument(
            "--root",
            metavar="[NAME=]DIR",
            action="append",
            help="the tree that the trace is about; repeated with names, the roots that the traced server had",
        )
        parser.add_argument(
            "--rev",
            metavar="REV",
            help="look up the evidence in this commit of the repository at the root"
            if name == "verify"
            else "take this commit of the repository at the root for the tree that was served",
        )
        parser.add_argument(
            "--max-response-bytes",
            type=positive,
            metavar="N",
            help="the limit that the traced server had (default: what the trace says, else 16 MiB)",
        )
        parser.add_argument(
            "--gitignore",
            action="store_true",
            help="the traced server was run with --gitignore; needed only where the trace does not say",
        )
        add_policy(parser)
    _add_format(parser)
    return parser


def _add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to print (default: text)")


def _add_writers(commands: Any) -> None:
    record = commands.add_parser(
        "record",
        help="run a command that may add claims and subcalls to a trace",
        description="Run a command with ZENO_TRACE, ZENO_ROOT, ZENO_SUBCALL and ZENO_POLICY set: servers it starts "
        'with --log "$ZENO_TRACE" and the commands claim, subcall and append all write to one trace, each line whole. '
        "Ends with the status of the command.",
        epilog='Example: zeno trace record --root src --log trace.jsonl --task "why does login fail?" -- ./agent.sh',
    )
    record.add_argument(
        "--root", metavar="[NAME=]DIR", action="append", required=True, help="the tree that claims cite; see zeno serve"
    )
    add_policy(record)
    record.add_argument(
        "--log", metavar="FILE", required=True, help="the trace to append to; created if it does not exist"
    )
    record.add_argument("--task", metavar="TEXT", help="record the command as a subcall with this task")
    record.add_argument("--id", metavar="ID", help="id of that subcall (default: the first free sub-N)")
    _add_format(record)
    record.add_argument("command", metavar="COMMAND", nargs=argparse.REMAINDER, help="the command, after --")
    record.set_defaults(run=_later("trace_write", "record"))

    claim = commands.add_parser(
        "claim",
        help="add a claim with its evidence to a trace",
        description="Add a claim. With a root, each citation is sealed with the SHA-256 of what its lines say now, and "
        "lines that are not there are refused. A search that found nothing is cited as a whole, with --answer.",
        epilog='Example: zeno trace claim "sessions expire after an hour" session.py:12-14',
    )
    claim.add_argument("claim", metavar="TEXT", help="the statement")
    claim.add_argument(
        "evidence", metavar="PATH:FIRST-LAST", nargs="*", default=[], help="lines it rests on; PATH:N for one line"
    )
    claim.add_argument(
        "--answer",
        metavar="ID",
        action="append",
        default=[],
        help="a whole answer that it rests on, by the id of its request; may be repeated",
    )
    claim.add_argument(
        "--symbol",
        metavar="PATH:NAME",
        action="append",
        default=[],
        help="a definition that it rests on, found again where it moved; may be repeated",
    )
    found = claim.add_mutually_exclusive_group()
    found.add_argument("--occurs", metavar="PATTERN", help="it says that this text occurs; verify searches again")
    found.add_argument(
        "--absent", metavar="PATTERN", help="it says that this text does not occur; verify searches again"
    )
    found.add_argument("--defines", metavar="NAME", help="it says that this name is defined; verify searches again")
    claim.add_argument("--regex", action="store_true", help="PATTERN is a regular expression")
    claim.add_argument(
        "--in", dest="where", metavar="PATH", action="append", default=[], help="search only here; may be repeated"
    )
    claim.add_argument(
        "--rev", metavar="REV", help="the evidence is of this commit of the repository at the root, and is sealed there"
    )
    claim.add_argument("--id", metavar="ID", help="id of the claim, for others to refer to")
    add_policy(claim)
    _add_recording(claim)
    claim.set_defaults(run=_later("trace_write", "claim"))

    subcall = commands.add_parser(
        "subcall",
        help="add the start or the end of a subcall to a trace",
        description="Add the start or end of a subcall.",
    )
    ends = subcall.add_subparsers(metavar="start|end", required=True)
    start = ends.add_parser(
        "start", help="a subcall begins; prints its id", description="A subcall begins; prints its id."
    )
    start.add_argument("--task", metavar="TEXT", help="what it was asked to do")
    start.add_argument("--id", metavar="ID", help="its id (default: the first free sub-N)")
    _add_recording(start)
    start.set_defaults(run=_later("trace_write", "start"))
    end = ends.add_parser("end", help="a subcall has returned", description="A subcall has returned.")
    end.add_argument("id", metavar="ID", help="the id that its start has")
    end.add_argument("--outcome", metavar="TEXT", help="what it returned")
    _add_recording(end)
    end.set_defaults(run=_later("trace_write", "end"))

    append = commands.add_parser(
        "append",
        help="add events given as JSON lines to a trace",
        description="Add claim, subcall_start and subcall_end events from standard input, one JSON object a line; ts "
        "is filled in where it is missing. A line that is no valid event is reported and not written.",
    )
    _add_recording(append)
    append.set_defaults(run=_later("trace_write", "append"))


def _add_recording(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--log", metavar="FILE", help="the trace (default: ZENO_TRACE)")
    parser.add_argument(
        "--root", metavar="[NAME=]DIR", action="append", help="the tree that is cited (default: ZENO_ROOT)"
    )
    parser.add_argument("--parent", metavar="ID", help="the subcall around it (default: ZENO_SUBCALL)")
    _add_format(parser)


def _later(module: str, name: str) -> Callable[[argparse.Namespace], int]:
    """Return a function that imports a command when it is run, to keep start-up fast."""

    def run(options: argparse.Namespace) -> int:
        status: int = getattr(import_module(f"zeno.cli.{module}"), name)(options)
        return status

    return run
