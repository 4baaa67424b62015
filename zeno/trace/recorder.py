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

import contract_spec as spec

from zeno.errors import CannotRun, Denied, InvalidArgs, ResponseTooLarge, ZenoError
from zeno.files.file_tree import FileTree
from zeno.files.policy import Policy
from zeno.files.roots import Nested, Roots
from zeno.files.tree import Tree
from zeno.meter import Meter
from zeno.options import Options, read_roots
from zeno.results.seals import seal
from zeno.trace.events import entry, event_violation
from zeno.trace.log import Log, lines_backwards, timestamp

_NAMED = re.compile("[^/]*=")
TRACE, ROOT, SUBCALL, POLICY = "ZENO_TRACE", "ZENO_ROOT", "ZENO_SUBCALL", "ZENO_POLICY"
"""Names of the environment variables by which a recording is passed on to subprocesses."""

OWN = ("claim", "subcall_start", "subcall_end")
"""Events that an agent may write. All others are written by the server."""

MAX_CITED_BYTES = 1 << 24
"""Bytes of all lines that one claim may cite without their sha256: no more than an answer may hold."""
MAX_SCANNED_BYTES = 1 << 30
"""Bytes of files that one claim may have read to find its lines. A server does nothing else meanwhile."""
MAX_ANSWERS = 100
"""Answers that one claim may cite. Each is looked for in the trace."""

Citation = tuple[str, int, int] | dict[str, Any]
CitedAnswer = str | dict[str, Any]


class NotRecorded(Exception):
    """The event is not valid or its evidence cannot be read. The message says what would be right."""


class EvidenceDenied(NotRecorded):
    """The policy denies a path that a claim cites. The message does not say whether anything is there."""

    def __init__(self, path: str) -> None:
        super().__init__(f"the evidence cannot be read: {Denied(path)}")
        self.path = path


class Subcall:
    """A running subcall. Its `outcome`, if set, is written when it ends."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.outcome: str | None = None


class Recorder:
    """Appends an agent's events to a log. With a root, citations get the SHA-256 of the lines they cite.

    `root` is a directory, several as lines of NAME=DIR, or a tree that stays open when the recorder is closed. `policy`
    holds for directories; a tree has its own. Claims that cite a denied path are refused.
    """

    def __init__(
        self,
        log: str,
        root: str | FileTree | None = None,
        parent: str | None = None,
        clock: Callable[[], float] = time.time,
        policy: Policy | None = None,
    ) -> None:
        self._path = log
        self._clock = clock
        self._parent = parent
        self._log = Log(log)
        self._owned: FileTree | None = None
        try:
            self._owned = _open(root, policy) if isinstance(root, str) else None
        except (CannotRun, Nested, OSError):
            self._log.close()
            raise
        self._tree = self._owned if isinstance(root, str) else root

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
        """Write a claim with the lines it cites, as (path, first line, last line). Return the event as written.

        `answers` are whole answers that it cites, by the id of their request; the last answer with that id counts.
        `search` says what a search shows: `type` is occurs, absent or defines; `pattern` with arguments of grep, or
        `name`, and where to look.
        Raises NotRecorded if a citation is not valid or cannot be read, EvidenceDenied if the policy denies its path.
        """
        event: dict[str, Any] = {"event": "claim", "claim": claim}
        meter = Meter(options=Options(max_response_bytes=MAX_CITED_BYTES, max_scan_bytes=MAX_SCANNED_BYTES))
        event["evidence"] = [self._seal(_citation(one), meter) for one in evidence]
        if self._tree is not None and self._tree.rev is not None:
            event["evidence"] = [{**one, "rev": self._tree.rev} for one in event["evidence"]]
        answers = list(answers)
        if len(answers) > MAX_ANSWERS:
            raise NotRecorded(f"a claim may cite {MAX_ANSWERS} answers, and not {len(answers)}")
        if cited := [self._find_given(one) if isinstance(one, str) else one for one in answers]:
            event["answers"] = cited
        if search is not None:
            event["search"] = _require_sense(search)
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

    def _seal(self, citation: dict[str, Any], meter: Meter) -> dict[str, Any]:
        """Return a citation with lines and their SHA-256, unless it has both or there is no root."""
        if found := spec.violations("zeno/claim.json#/$defs/citation", citation):
            sentences = sorted({f"{spec.dotted('', one.pointer) or 'it'} {one.message}" for one in found})
            raise NotRecorded(f"not a valid citation: {'; '.join(sentences)}")
        whole = "start_line" in citation and "end_line" in citation
        if self._tree is None:
            if whole:
                return citation
            raise NotRecorded("without a root only lines can be cited, by start_line and end_line")
        if whole and "sha256" in citation:
            self._require_allowed(citation["path"])
            return citation
        try:
            return seal(citation, self._tree, meter)
        except Denied:
            raise EvidenceDenied(citation["path"]) from None
        except ResponseTooLarge:
            raise NotRecorded(f"a claim may cite {MAX_CITED_BYTES} bytes of text; cite fewer lines") from None
        except ZenoError as error:
            raise NotRecorded(f"the evidence cannot be read: {error}") from None

    def _require_allowed(self, path: str) -> None:
        """Raise EvidenceDenied if the policy denies a path. Other problems are found by verify."""
        try:
            if self._tree is not None:
                self._tree.place(path, "path")
        except Denied:
            raise EvidenceDenied(path) from None
        except ZenoError:
            pass

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


def _citation(given: Citation) -> dict[str, Any]:
    if isinstance(given, dict):
        return given
    path, first, last = given
    return {"path": path, "start_line": first, "end_line": last}


def _require_sense(search: dict[str, Any]) -> dict[str, Any]:
    """Return what a claim says of a search. Raises NotRecorded if it cannot be asked."""
    wanted = {"name"} if search.get("type") == "defines" else {"name", "pattern"}
    if len(wanted & search.keys()) != 1 or not {"name", "pattern"} & search.keys() <= wanted:
        raise NotRecorded(f"search needs {' or '.join(sorted(wanted))}, and one of them alone")
    if "name" in search and {"regex", "case_sensitive"} & search.keys():
        raise NotRecorded("search: regex and case_sensitive belong to a pattern")
    return search


def _with(event: dict[str, Any], **fields: str | None) -> dict[str, Any]:
    return event | {name: value for name, value in fields.items() if value is not None}


def _open(root: str, policy: Policy | None) -> FileTree:
    """Open a directory, or several given as lines of NAME=DIR. Raises OSError, Nested and CannotRun."""
    lines = root.split("\n")
    named = read_roots(lines) if all(map(_NAMED.match, lines)) else {}
    return Roots(named, policy) if named else Tree(root, policy)
