"""The flags that make a policy, and the tree that is opened under it."""

import argparse
import os
from contextlib import ExitStack
from typing import TYPE_CHECKING

from zeno.cli.descriptors import raise_descriptor_limit
from zeno.errors import CannotRun, InvalidArgs
from zeno.options import named_roots

if TYPE_CHECKING:
    from zeno.files.file_tree import FileTree
    from zeno.files.policy import Policy

# Longer lists of globs are refused.
MAX_LIST_BYTES = 1 << 20


def add_policy(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
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


def policy_of(options: argparse.Namespace) -> "Policy":
    """Return the policy that the flags describe. Raises CannotRun for bad globs or unreadable files."""
    from zeno.files.policy import IGNORED, SECRETS, Policy

    deny = [*options.deny, *(glob for name in options.deny_from for glob in _listed(name))]
    lists = [SECRETS] if SECRETS in deny else []
    globs = [glob for glob in dict.fromkeys(deny) if glob not in (SECRETS, IGNORED)]
    try:
        return Policy(globs, list(dict.fromkeys(options.only)), lists=lists, ignored=IGNORED in deny)
    except InvalidArgs as error:
        raise CannotRun(str(error)) from None


def opened_tree(options: argparse.Namespace, stack: ExitStack, failure: str) -> "FileTree":
    """Open the root or the roots of the flags under their policy; the stack closes them.

    Raises CannotRun, whose message begins with `failure` where a directory cannot be opened.
    """
    from zeno.files.roots import Nested, Roots
    from zeno.files.tree import Tree

    raise_descriptor_limit()
    directories = named_roots(options.root)
    policy = policy_of(options)
    try:
        if directories:
            return stack.enter_context(Roots(directories, policy))
        return stack.enter_context(Tree(options.root[0], policy))
    except OSError as error:
        raise CannotRun(f"{failure} {error.filename!r}: {os.strerror(error.errno or 0)}") from None
    except Nested as error:
        raise CannotRun(str(error)) from None


def _listed(name: str) -> list[str]:
    """Return the globs in a file, one a line. Blank lines and lines that begin with # are ignored."""
    try:
        with open(name, "rb") as file:
            data = file.read(MAX_LIST_BYTES + 1)
    except OSError as error:
        raise CannotRun(f"cannot read the list of globs {name!r}: {os.strerror(error.errno or 0)}") from None
    if len(data) > MAX_LIST_BYTES:
        raise CannotRun(f"the list of globs {name!r} is longer than {MAX_LIST_BYTES} bytes")
    try:
        lines = data.decode().splitlines()
    except UnicodeDecodeError:
        raise CannotRun(f"the list of globs {name!r} is not UTF-8") from None
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]
