"""Write an agent's events, claims and subcalls, into the log beside the server's events.

    with Recorder("trace.jsonl", root="src") as record, record.subcall("find where sessions expire"):
        record.claim("sessions expire after an hour", [("session.py", 12, 14)])
        record.claim("nothing renews a session", answers=["r7"])

`zeno trace record` runs a command with `ZENO_TRACE`, `ZENO_ROOT`, `ZENO_SUBCALL` and `ZENO_POLICY` set.
`Recorder.of_environment()` and the commands `zeno trace claim`, `subcall` and `append` find their log there, and cite
nothing that the policy denies.
"""

import fcntl
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from zeno.errors import CannotRun, InvalidArgs
from zeno.files.file_tree import FileTree
from zeno.files.policy import Policy
from zeno.files.roots import Nested, Roots
from zeno.files.tree import Tree
from zeno.options import read_roots
from zeno.results.seals import Citation, Evidence, FindCommit, NotRecorded
from zeno.revisions.named_commits import make_revisions
from zeno.revisions.repository import Repositories
from zeno.trace.events import entry, event_violation
from zeno.trace.log import Log, lines_backwards, timestamp

_NAMED = re.compile("[^/]*=")
TRACE, ROOT, SUBCALL, POLICY = "ZENO_TRACE", "ZENO_ROOT", "ZENO_SUBCALL", "ZENO_POLICY"
"""Names of the environment variables by which a recording is passed on to subprocesses."""

OWN = ("claim", "subcall_start", "subcall_end")
"""Events that an agent may write. All others are written by the server."""

MAX_ANSWERS = 100
"""Answers that one claim may cite. Each is looked for in the trace."""

CitedAnswer = str | dict[str, Any]


class Subcall:
    """A running subcall. Its `outcome`, if set, is written when it ends."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.outcome: str | None = None


class Recorder:
    """Appends an agent's events to a log. With a root, citations get the SHA-256 of the lines they cite.

    `root` is a directory, several as lines of NAME=DIR, or a tree that stays open when the recorder is closed. `policy`
    holds for directories; a tree has its own. Claims that cite a denied path are refused. `find_commit` returns the
    tree of a commit that a citation names; commits of the repository at a directory are found without it.
    """

    def __init__(
        self,
        log: str,
        root: str | FileTree | None = None,
        parent: str | None = None,
        clock: Callable[[], float] = time.time,
        policy: Policy | None = None,
        find_commit: FindCommit | None = None,
    ) -> None:
        self._path = log
        self._clock = clock
        self._parent = parent
        self._log = Log(log)
        self._owned: Tree | Roots | None = None
        try:
            self._owned = _open(root, policy) if isinstance(root, str) else None
        except (CannotRun, Nested, OSError):
            self._log.close()
            raise
        self._tree = self._owned if isinstance(root, str) else root
        self._repositories = None if self._owned is None else Repositories(self._owned.descriptors)
        self._find_commit = find_commit
        if self._owned is not None and self._repositories is not None:
            commits = make_revisions(self._owned, self._repositories, None)
            self._find_commit = lambda rev: commits.at(rev, "rev").tree

    @classmethod
    def of_environment(cls) -> Self:
        """Return a recorder for the log that the environment names. Raises NotRecorded if it names none."""
        if not os.environ.get(TRACE):
            raise NotRecorded(f"{TRACE} is not set; run this under `zeno trace record`, or name the log")
        return cls(os.environ[TRACE], os.environ.get(ROOT), os.environ.get(SUBCALL), policy=policy_of_environment())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the log, and the root if this recorder opened it."""
        self._log.close()
        if self._repositories is not None:
            self._repositories.close()
        if self._owned is not None:
            self._owned.close()

    def cite_from(self, tree: FileTree) -> None:
        """Look up cited lines in another tree from now on. It stays open when the recorder is closed."""
        self._tree = tree

    def claim(
        self,
        claim: str,
        evidence: Iterable[Citation] = (),
        *,
        answers: Iterable[CitedAnswer] = (),
        search: dict[str, Any] | None = None,
        id: str | None = None,
        parent: str | None = None,
    ) -> dict[str, Any]:
        """Write a claim with the lines it cites, as (path, first line, last line), or as objects, which may name a
        definition (`symbol`) and a commit (`rev`). Return the event as written.

        `answers` are whole answers that it cites, by the id of their request; the last answer with that id counts.
        `search` says what a search shows: `type` is occurs, absent or defines; `pattern` with arguments of grep, or
        `name`, and where to look.
        Raises NotRecorded if a citation is not valid or cannot be read, EvidenceDenied if the policy denies its path.
        """
        event: dict[str, Any] = {"event": "claim", "claim": claim}
        cited = Evidence(self._tree, self._find_commit)
        event["evidence"] = [cited.seal(one) for one in evidence]
        answers = list(answers)
        if len(answers) > MAX_ANSWERS:
            raise NotRecorded(f"a claim may cite {MAX_ANSWERS} answers, and not {len(answers)}")
        if given := [self._find_given(one) if isinstance(one, str) else one for one in answers]:
            event["answers"] = given
        if search is not None:
            event["search"] = cited.complete(search)
        return self.append(_with(event, id=id, parent=parent or self._parent))

    def start(self, task: str | None = None, *, id: str | None = None, parent: str | None = None) -> str:
        """Write the start of a subcall and return its id: the one given, or `sub-N` with the first free N."""
        event = _with({"event": "subcall_start"}, id=id, parent=parent or self._parent, task=task)
        with self._alone():
            if id is None:
                event["id"] = self._free_name()
            return str(self.append(event)["id"])

    def end(self, id: str, outcome: str | None = None) -> dict[str, Any]:
        """Write the end of a subcall. Return the event as written."""
        return self.append(_with({"event": "subcall_end", "id": id}, outcome=outcome))

    @contextmanager
    def subcall(self, task: str | None = None, *, id: str | None = None) -> Iterator["Subcall"]:
        """Run a block as a subcall: events that this recorder writes inside have it as their parent."""
        outside = self._parent
        subcall = Subcall(self.start(task, id=id))
        self._parent = subcall.id
        try:
            yield subcall
        except BaseException as error:
            subcall.outcome = f"failed: {type(error).__name__}"
            raise
        finally:
            self._parent = outside
            self.end(subcall.id, subcall.outcome)

    def append(self, event: dict[str, Any]) -> dict[str, Any]:
        """Append one event, adding the time if it has none. Raises NotRecorded if the schema refuses it."""
        event = {"ts": timestamp(self._clock()), **event}
        if event.get("event") not in OWN:
            raise NotRecorded(f"event must be one of {', '.join(OWN)}; the others are the server's to write")
        if (wrong := event_violation(event)) is not None:
            raise NotRecorded(f"not a valid {event['event']} event: {wrong}")
        for index, citation in enumerate(event.get("evidence", ())):
            if citation["end_line"] < citation["start_line"]:
                raise NotRecorded(f"evidence[{index}].end_line must not be below start_line")
        line = json.dumps(event, separators=(",", ":")).encode()
        # Command-line words that are not UTF-8 contain lone surrogates, which readers refuse.
        if (problem := entry(0, line + b"\n").problem) is not None:
            raise NotRecorded(f"not a valid {event['event']} event: {problem[1]}")
        self._log.append(line)
        return event

    def _find_given(self, id: str) -> dict[str, Any]:
        """Return id and digest of the last answer that the log has for a request id."""
        # Ids that need no escapes are looked for in the bytes: parsing takes far longer.
        wanted = id.encode() if id.isascii() and id.isprintable() and not {'"', "\\"} & set(id) else b""
        for line in lines_backwards(self._path):
            # Newest first: a claim mostly cites a recent answer.
            event = entry(0, line).event if b"response" in line and wanted in line else None
            if event and event["event"] == "response" and event["id"] == id:
                return {"id": id, "digest": event["digest"]}
        raise NotRecorded(f"no answer to {id!r} stands in the trace; a refusal cannot be cited")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Lock the log while a free id is chosen."""
        fcntl.flock(self._log.descriptor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._log.descriptor, fcntl.LOCK_UN)

    def _free_name(self) -> str:
        with open(self._path, "rb") as stream:
            # Most lines of a long trace are the server's: only those that may start a subcall are parsed.
            likely = (entry(0, line).event for line in stream if b"subcall_start" in line)
            taken = {event["id"] for event in likely if event}
        number = 1
        while f"sub-{number}" in taken:
            number += 1
        return f"sub-{number}"


def policy_of_environment() -> Policy | None:
    """Return the policy of the recording that this process is part of. Raises NotRecorded if it cannot be read."""
    text = os.environ.get(POLICY)
    if not text:
        return None
    try:
        return Policy.from_json(text)
    except InvalidArgs as error:
        raise NotRecorded(f"{POLICY} is {error}") from None


def _with(event: dict[str, Any], **fields: str | None) -> dict[str, Any]:
    return event | {name: value for name, value in fields.items() if value is not None}


def _open(root: str, policy: Policy | None) -> Tree | Roots:
    """Open a directory, or several given as lines of NAME=DIR. Raises OSError, Nested and CannotRun."""
    lines = root.split("\n")
    named = read_roots(lines) if all(map(_NAMED.match, lines)) else {}
    return Roots(named, policy) if named else Tree(root, policy)
