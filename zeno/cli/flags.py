"""Flags that several commands share, and the types of their numbers."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace, _SubParsersAction
from typing import Any, TypeAlias

from zeno.cli.policy_flags import add_policy
from zeno.errors import CannotRun
from zeno.options import Options

Commands: TypeAlias = "_SubParsersAction[Any]"
"""Where commands are added."""

EPILOG = "The protocol is explained by zeno docs protocol; its schemas are printed by zeno schema."


def add_root(parser: ArgumentParser, *, for_agents: bool = False, alone: bool = True) -> None:
    """Add --root and the policy flags; if `alone`, the directory may also be the only word."""
    if alone:
        add_directories(parser)
    parser.add_argument(
        "--root",
        metavar="[NAME=]DIR",
        action="append",
        default=[],
        help="the directory to serve; nothing outside it is read. May be repeated with a name for each; "
        "paths then begin with the name",
    )
    parser.set_defaults(needs_root=True)
    add_policy(parser, for_agents=for_agents)


def add_directories(parser: ArgumentParser) -> None:
    """Add DIR, which stands for --root DIR."""
    parser.add_argument("directories", metavar="DIR", nargs="*", default=[], help="the same as --root DIR")


def take_directories(options: Namespace) -> None:
    """Put the directories that stand alone among the roots. Raises CannotRun where one is needed and none is named."""
    if hasattr(options, "directories"):
        options.root = [*(options.root or ()), *options.directories] or None
    if getattr(options, "needs_root", False) and not options.root:
        raise CannotRun("name the directory to work on, such as . for this one")


def add_revisions(parser: ArgumentParser, *, for_agents: bool = False) -> None:
    """Add --rev and --revs. A server for agents lets requests name no commit unless --revs says which."""
    parser.add_argument(
        "--rev",
        metavar="REV",
        help="serve the tree of this commit of the repository at the root, without a checkout: a branch, a tag or an "
        "id; of named roots looked up in each, or NAME=REV for each, with commas",
    )
    parser.add_argument(
        "--revs",
        metavar="LIST",
        type=_entries,
        default=[] if for_agents else None,
        help="the commits that requests may name in rev: names or globs of branches and tags, with commas, or all "
        f"(default: {'none' if for_agents else 'all'}, with --rev that one)",
    )


def _entries(text: str) -> list[str]:
    """Parse a list with commas. Raises ArgumentTypeError."""
    found = [entry.strip() for entry in text.split(",")]
    if "" in found:
        raise ArgumentTypeError(f"{text!r} has an empty entry; give names or globs with commas between them, or all")
    return found


def add_server(parser: ArgumentParser, max_seconds: int | None = None, *, for_agents: bool = False) -> None:
    """Add the flags of a server. `max_seconds` is its default for --max-seconds."""
    add_root(parser, for_agents=for_agents)
    add_revisions(parser, for_agents=for_agents)
    parser.add_argument("--log", metavar="FILE", help="append a JSONL trace of all requests and answers to FILE")
    limits = parser.add_argument_group("Limits")
    limits.add_argument(
        "--max-request-bytes", type=positive, metavar="N", help="refuse longer requests (default: 1 MiB)"
    )
    limits.add_argument(
        "--max-response-bytes", type=positive, metavar="N", help="refuse to send longer answers (default: 16 MiB)"
    )
    add_cache(parser)
    parser.add_argument(
        "--no-cache", action="store_true", help="cache nothing: walk and read the disk for every request"
    )
    limits.add_argument("--max-ops", type=positive, metavar="N", help="answer at most N requests")
    limits.add_argument("--max-lines", type=positive, metavar="N", help="return at most N lines of files in all")
    limits.add_argument("--max-bytes", type=positive, metavar="N", help="return at most N bytes of results in all")
    limits.add_argument(
        "--max-seconds",
        type=not_negative,
        metavar="N",
        default=max_seconds,
        help="refuse a request that takes longer with deadline_exceeded; 0: no limit (default: "
        f"{max_seconds or 'no limit'})",
    )
    limits.add_argument(
        "--max-pattern-work",
        type=positive,
        metavar="N",
        help="refuse a regular expression of over 1500 states where states times bytes of text to search exceed N with "
        "pattern_too_costly (default: 2^32)",
    )
    limits.add_argument(
        "--max-scan-bytes",
        type=positive,
        metavar="N",
        help="refuse to go through more bytes of files for one request to read_file, peek or verify with "
        "file_too_large (default: 2^32)",
    )
    parser.add_argument(
        "--gitignore",
        action="store_true",
        help="leave out what git ignores, unless a request sets gitignore itself",
    )
    parser.add_argument(
        "--confine",
        choices=("auto", "require", "off"),
        default="auto",
        help="after start, give up the right to open files outside DIR and to make sockets, as Landlock and seccomp on "
        "Linux enforce it. auto (default): if the system can (see describe); require: or refuse to start; off: never",
    )


def read_options(flags: Namespace) -> Options:
    """Return the options of a server that flags state. A flag that is absent, or 0, leaves the default."""
    given = {name: value for name, value in vars(flags).items() if name in _OF_FLAGS and value}
    return Options(**given)


# The others are not stated by flags, but found out.
_OF_FLAGS = frozenset(Options._fields) - {"log", "confinement"}


def add_cache(parser: ArgumentParser) -> None:
    """Add --cache-bytes."""
    parser.add_argument(
        "--cache-bytes",
        type=positive,
        metavar="N",
        default=1 << 30,
        help="keep at most N bytes of text and index in memory; other files are read from disk (default: 1 GiB)",
    )


def positive(text: str) -> int:
    """Parse a whole number above 0. Raises ArgumentTypeError."""
    number = _whole(text)
    if number < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return number


def not_negative(text: str) -> int:
    """Parse a whole number from 0 on. Raises ArgumentTypeError."""
    number = _whole(text)
    if number < 0:
        raise ArgumentTypeError(f"{text!r} is not a whole number from 0 on")
    return number


def _whole(text: str) -> int:
    """Parse a whole number; -1 if it is none."""
    try:
        return int(text)
    except ValueError:
        return -1


def port(text: str) -> int:
    """Parse a port number. Raises ArgumentTypeError."""
    if not text.isdecimal() or len(text) > 5 or int(text) > 65535:
        raise ArgumentTypeError(f"{text!r} is no port; give a number from 0 to 65535")
    return int(text)
