"""Inputs of the commands that read a trace: its lines, and the tree on which requests are run again."""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, BinaryIO

from zeno.cli.descriptors import raise_descriptor_limit
from zeno.cli.policy_flags import policy_of
from zeno.cli.printing import safe, say
from zeno.errors import CannotRun
from zeno.files.tree import Tree
from zeno.options import Terms
from zeno.search.cold import ColdCorpus
from zeno.trace.events import Entry, Exchange, Pairing, exchanges, read
from zeno.trace.replay import Replayer


class Source:
    """The lines of a trace and the problems found in them. Raises CannotRun if the trace cannot be read."""

    def __init__(self, options: argparse.Namespace, stack: ExitStack) -> None:
        if options.trace == "-":
            self.stream: BinaryIO = sys.stdin.buffer
        else:
            try:
                self.stream = open(options.trace, "rb")  # noqa: SIM115 - the stack closes it
                stack.callback(self.stream.close)
            except OSError as error:
                raise CannotRun(f"cannot read the trace {options.trace!r}: {os.strerror(error.errno or 0)}") from None
        self.events = 0
        self.problems: list[dict[str, Any]] = []
        self.pairing = Pairing()

    def entries(self) -> Iterator[Entry]:
        """Yield an entry for every line. On a terminal, show the number of lines read so far."""
        show = sys.stderr.isatty()
        shown = False
        try:
            for entry in read(self.stream):
                self.events += entry.event is not None
                if entry.problem:
                    code, message = entry.problem
                    self.problems.append({"line": entry.number, "code": code, "message": message})
                if show and entry.number % 2000 == 0:
                    print(f"\r{entry.number} lines", end="", file=sys.stderr)
                    shown = True
                yield entry
        except OSError as error:
            raise CannotRun(f"cannot read the trace: {os.strerror(error.errno or 0)}") from None
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr)

    def steps(self) -> Iterator[Entry | Exchange]:
        """Yield the entries with each answer joined to its request."""
        return exchanges(self.entries(), self.pairing)

    def told(self) -> dict[str, Any]:
        """Return the part of every report that is about the trace itself: events, problems, unanswered requests."""
        unanswered = [{"line": number, "id": event["id"]} for number, event in self.pairing.unanswered()]
        return {"events": self.events, "problems": self.problems, "unanswered": unanswered}

    def print_problems(self, tell: Callable[[str], None] = say) -> None:
        """Print problems and unanswered requests, one a line."""
        for problem in self.problems:
            tell(f"line {problem['line']}: {problem['code']}: {safe(problem['message'])}")
        for number, event in self.pairing.unanswered():
            tell(f"line {number}: unanswered: the request {safe(event['id'])} has no response and no error")


def replayer_for(options: argparse.Namespace, source: Source, stack: ExitStack) -> Replayer:
    """Return a replayer for the tree that the options name. Raises CannotRun if it cannot be opened."""
    raise_descriptor_limit()
    try:
        tree = stack.enter_context(Tree(options.root, policy_of(options)))
    except OSError as error:
        raise CannotRun(f"cannot read the tree {options.root!r}: {os.strerror(error.errno or 0)}") from None
    if options.trace != "-":
        # A server conceals its own log, so replay does too.
        tree.conceal(source.stream.fileno())
    terms = Terms(max_response_bytes=options.max_response_bytes, gitignore=options.gitignore)
    return Replayer(ColdCorpus(tree), terms)
