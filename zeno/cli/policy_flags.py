"""The flags that make a policy, and the tree that is opened under it."""

import argparse
import os
import resource
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from zeno.errors import CannotRun, InvalidArgs
from zeno.options import read_roots

if TYPE_CHECKING:
    from zeno.files.policy import Policy
    from zeno.files.roots import Roots
    from zeno.files.tree import Tree

# Longer lists of globs are refused.
MAX_LIST_BYTES = 1 << 20


def add_policy(parser: argparse.ArgumentParser, *, for_agents: bool = False) -> None:
    """Add the flags. A server for agents denies the list of secrets unless --allow names it."""
    parser.add_argument(
        "--deny",
        metavar="GLOB",
        action="append",
        default=[],
        help="never show what matches, whatever a request says: a glob over names, or over paths if it has a slash; "
        "secrets denies keys and credentials, ignored what git ignores; may be repeated",
    )
    parser.add_argument(
        "--deny-from", metavar="FILE", action="append", default=[], help="read such globs from FILE, one a line"
    )
    parser.add_argument(
        "--only",
        metavar="GLOB",
        action="append",
        default=[],
        help="never show anything but what matches, by its whole relative path, or is below it; may be repeated",
    )
    if for_agents:
        parser.add_argument(
            "--allow",
            metavar="LIST",
            choices=("secrets",),
            help="show what this list denies, too: keys and credentials, which this server denies without being told",
        )


def policy_of(options: argparse.Namespace) -> "Policy":
    """Return the policy that the flags describe. Raises CannotRun for bad globs or unreadable files."""
    from zeno.files.policy import IGNORED, SECRETS, Policy

    deny = [*options.deny, *(glob for name in options.deny_from for glob in _read_globs(name))]
    for glob in deny:
        _refuse_misspelt_list(glob, (SECRETS, IGNORED))
    # Commands that are no servers for agents have no --allow.
    allow = getattr(options, "allow", SECRETS)
    if allow is None:
        deny.append(SECRETS)
    elif SECRETS in deny and hasattr(options, "allow"):
        raise CannotRun("--deny secrets and --allow secrets contradict each other; leave out one of them")
    lists = [SECRETS] if SECRETS in deny else []
    globs = [glob for glob in dict.fromkeys(deny) if glob not in (SECRETS, IGNORED)]
    try:
        return Policy(globs, list(dict.fromkeys(options.only)), lists=lists, ignored=IGNORED in deny)
    except InvalidArgs as error:
        raise CannotRun(str(error)) from None


def open_tree(options: argparse.Namespace, stack: ExitStack, failure: str) -> "Tree | Roots":
    """Open the root or the roots of the flags under their policy; the stack closes them.

    Raises CannotRun, whose message begins with `failure` where a directory cannot be opened.
    """
    from zeno.files.roots import Nested, Roots
    from zeno.files.tree import Tree

    raise_descriptor_limit()
    directories = read_roots(options.root)
    policy = policy_of(options)
    if directories:
        _refuse_globs_beside_roots(policy, list(directories))
    try:
        if directories:
            return stack.enter_context(Roots(directories, policy))
        return stack.enter_context(Tree(options.root[0], policy))
    except OSError as error:
        raise CannotRun(f"{failure} {error.filename!r}: {os.strerror(error.errno or 0)}") from None
    except Nested as error:
        raise CannotRun(str(error)) from None


def _refuse_globs_beside_roots(policy: "Policy", names: list[str]) -> None:
    """Raise CannotRun for a glob over paths that can match in none of the named roots."""
    from zeno.text.globs import expand, subtree_matcher

    for glob, flag in [*((glob, "--deny") for glob in policy.deny), *((glob, "--only") for glob in policy.only)]:
        plain = "/".join(step for step in glob.split("/") if step not in ("", "."))
        if flag == "--deny" and "/" not in plain:
            continue  # a glob over names, in every root
        firsts = [text.partition("/")[0] for text in expand(plain, flag)]
        matches = subtree_matcher(firsts, flag, case_sensitive=flag == "--only")
        if not any(matches(name) for name in names):
            raise CannotRun(
                f"{flag} {glob!r} matches in no root: a path begins with the name of its root; give "
                f"'{names[0]}/{plain}', or '*/{plain}' for every root"
            )


def _refuse_misspelt_list(glob: str, lists: tuple[str, ...]) -> None:
    """Raise CannotRun for a glob that is the name of a list but for case or one letter, or two letters swapped."""
    for name in lists:
        if glob != name and _is_nearly(glob.lower(), name):
            raise CannotRun(
                f"--deny {glob!r} would deny files of that name only; did you mean {name}? For such files give ./{glob}"
            )


def _is_nearly(text: str, name: str) -> bool:
    """Whether a text is a name, or becomes it if one letter is added, left out, replaced or swapped with the next."""
    if text == name:
        return True
    same = next((at for at, (one, other) in enumerate(zip(text, name, strict=False)) if one != other), None)
    same = min(len(text), len(name)) if same is None else same
    mine, rest = text[same:], name[same:]
    return rest in (mine[1:], mine[1::-1] + mine[2:]) or rest[1:] in (mine, mine[1:])


def _read_globs(name: str) -> list[str]:
    """Return the globs in a file, one a line. Blank lines and lines that begin with # are ignored."""
    try:
        with open(name, "rb") as file:
            data = file.read(MAX_LIST_BYTES + 1)
    except OSError as error:
        raise CannotRun(f"cannot read the list of globs {name!r}: {os.strerror(error.errno or 0)}") from None
    if len(data) > MAX_LIST_BYTES:
        raise CannotRun(f"the list of globs {name!r} is longer than {MAX_LIST_BYTES} bytes")
    try:
        lines = [line.strip(" \t\r") for line in data.decode("utf-8-sig").split("\n")]
    except UnicodeDecodeError:
        raise CannotRun(f"the list of globs {name!r} is not UTF-8") from None
    for number, line in enumerate(lines, 1):
        if not line.startswith("#") and (" #" in line or "\t#" in line):
            raise CannotRun(
                f"the list of globs {name!r}, line {number}: a comment needs a line of its own; for a # in a name "
                "write [#]"
            )
    return [line for line in lines if line and not line.startswith("#")]


def raise_descriptor_limit() -> None:
    """Raise the soft limit on open files to the hard one: a deep tree needs a descriptor for every level.

    If the system refuses, nothing changes.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        # macOS allows less than the hard limit it reports.
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
