"""Inputs of the commands that read a trace: its lines, and the tree on which requests are run again."""

import argparse
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, BinaryIO

from zeno.cli.flags import read_options
from zeno.cli.policy_flags import open_tree
from zeno.cli.printing import safe, say
from zeno.errors import CannotRun, ZenoError
from zeno.files.file_tree import FileTree
from zeno.revisions.named_commits import make_revisions
from zeno.revisions.repository import Repositories
from zeno.search.corpus import ColdCorpus, Corpus
from zeno.search.roots_corpus import corpus_of
from zeno.trace.events import Exchange, Pairing, TraceLine, exchanges, read
from zeno.trace.replay import Replayer
from zeno.trace.sessions import GivenFlags, follow_sessions


class TraceSource:
    """The lines of a trace and the problems found in them. Raises CannotRun if the trace cannot be read."""

    def __init__(self, options: argparse.Namespace, stack: ExitStack) -> None:
        if options.trace == "-":
            self.stream: BinaryIO = sys.stdin.buffer
        else:
            try:
                self.stream = open(options.trace, "rb")  # noqa: SIM115 - the stack closes it
                stack.callback(self.stream.close)
            except OSError as error:
                cure = "; the trace comes first, then the directory" if isinstance(error, IsADirectoryError) else ""
                why = os.strerror(error.errno or 0)
                raise CannotRun(f"cannot read the trace {options.trace!r}: {why}{cure}") from None
        self.events = 0
        self.problems: list[dict[str, Any]] = []
        self.pairing = Pairing()

    def entries(self) -> Iterator[TraceLine]:
        """Yield an entry for every line. On a terminal, show after a second how far it is, and the time left."""
        progress = _Progress(self.stream)
        try:
            for entry in read(self.stream):
                self.events += entry.event is not None
                if entry.problem:
                    code, message = entry.problem
                    self.problems.append({"line": entry.number, "code": code, "message": message})
                progress.show(entry.number)
                yield entry
        except OSError as error:
            raise CannotRun(f"cannot read the trace: {os.strerror(error.errno or 0)}") from None
        finally:
            progress.clear()

    def steps(self) -> Iterator[TraceLine | Exchange]:
        """Yield the entries with each answer joined to its request."""
        return exchanges(self.entries(), self.pairing)

    def summary(self) -> dict[str, Any]:
        """Return the part of every report that is about the trace itself: events, problems, unanswered requests."""
        unanswered = [{"line": number, "id": event["id"]} for number, event in self.pairing.list_unanswered()]
        return {"events": self.events, "problems": self.problems, "unanswered": unanswered}

    def print_problems(self, tell: Callable[[str], None] = say) -> None:
        """Print problems and unanswered requests, one a line; of a file that is no trace the first is enough."""
        is_trace = self.events > 0 or len(self.problems) < 2
        for problem in self.problems if is_trace else self.problems[:1]:
            tell(f"line {problem['line']}: {problem['code']}: {safe(problem['message'])}")
        if not is_trace:
            tell(
                f"none of {len(self.problems)} lines is an event: this is no trace, which zeno serve --log FILE writes"
            )
        for number, event in self.pairing.list_unanswered():
            tell(f"line {number}: unanswered: the request {safe(event['id'])} has no response and no error")


class _Progress:
    """A line on standard error, only on a terminal: lines read, and the time that the rest of a file will take."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._wanted = sys.stderr.isatty()
        about = os.fstat(stream.fileno()) if self._wanted else None
        self._size = about.st_size if about is not None and stat.S_ISREG(about.st_mode) else 0
        self._begun = time.monotonic()
        self._next = self._begun + 1.0
        self._drawn = False

    def show(self, lines: int) -> None:
        """Draw the line anew, ten times a second at most."""
        if not self._wanted or time.monotonic() < self._next:
            return
        now, text = time.monotonic(), f"{lines} lines"
        if self._size and 0 < (place := self._stream.tell()) < self._size:
            left = (now - self._begun) / place * (self._size - place)
            text += f", {100 * place // self._size} %, about {left:.0f} s left"
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        self._next, self._drawn = now + 0.1, True

    def clear(self) -> None:
        """Remove the line."""
        if self._drawn:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def replayer_for(
    options: argparse.Namespace, source: TraceSource, stack: ExitStack, *, evidence_only: bool = False
) -> tuple[Iterator[TraceLine | Exchange], Replayer]:
    """Return the steps of a trace, and a replayer for the tree that the options name, which follows its sessions.

    With `evidence_only` the commit of --rev is only for the evidence of claims: requests are run where they were.
    Raises CannotRun if the tree cannot be opened, or there is no such commit.
    """
    tree = open_tree(options, stack, "cannot read the tree")
    if options.trace != "-":
        # A server conceals its own log, so replay does too.
        tree.conceal(source.stream.fileno())
    given = GivenFlags(
        tree.policy if tree.policy.active else None,
        options.max_response_bytes,
        options.gitignore or None,
        None if evidence_only else options.rev,
    )
    repositories = Repositories(tree.descriptors)
    stack.callback(repositories.close)

    def make_corpus(tree: FileTree, rev: str | None) -> Corpus:
        if rev is not None:
            return make_revisions(tree, repositories, None).at(rev, "--rev")
        corpus = corpus_of(tree, ColdCorpus)
        corpus.revisions = make_revisions(tree, repositories, None, corpus)
        return corpus

    try:
        replayer = Replayer(make_corpus(tree, given.rev), read_options(options))
        if evidence_only and options.rev is not None:
            replayer.later = make_corpus(tree, options.rev)
    except ZenoError as error:
        raise CannotRun(str(error)) from None
    return follow_sessions(source.steps(), replayer, given, tree, make_corpus), replayer
