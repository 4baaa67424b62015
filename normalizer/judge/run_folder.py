"""The run's folder: every input and every reply, kept for audit, and enough to go on where a run was cut.

    run.json         what the run is; written once, before the first call
    manifest.json    the manifest as it was given
    rubric.json      the rubric as it was given
    inputs/0000.json           what the judge is given for the first file of the manifest, and so on
    calls/0000-1.reply         its first reply on that file, verbatim
    calls/0000-1.response      the whole response of an endpoint, verbatim
    calls/0000-1.json          hashes, timings, token counts; written last: with it the call is answered
    failures/0000-1-1.json     a call that brought no answer, with .stdout, .stderr or .response where there was one
    bundle.json      the bundle; written once, when every file has a usable reply
    partial.json     with --partial: a bundle of the usable replies, written anew by each run until all have one

Files are named by their place in the manifest, so that the name of an input gives nothing away. A file appears whole or
not at all.
"""

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import contract_spec as spec

from normalizer.documents import lossless
from normalizer.documents.settings import LIMITS
from normalizer.errors import CannotRun
from normalizer.ledger.durable import create_folder, sync
from normalizer.regular_files import document_bytes

_KNOWN = {".lock", "manifest.json", "rubric.json", "inputs"}
"""Names that a folder may hold before its run.json exists, after an interrupted preparation."""

_PART = ".part"


class CheckedReply(NamedTuple):
    """A reply's members, or why it cannot be used."""

    members: dict[str, Any] | None
    problem: str | None


def read_reply(data: bytes, *, truncated: bool = False) -> CheckedReply:
    """Parse and check the bytes of a reply."""
    if truncated:
        return CheckedReply(None, "it is longer than a reply may be")
    if not data.strip():
        return CheckedReply(None, "it is empty")
    try:
        value = lossless.parse(data, LIMITS["max_depth"])
    except spec.NotStrictJson as error:
        return CheckedReply(None, f"it is not strict JSON: {error}")
    violations = spec.violations("eval/judge_reply.json", lossless.to_builtin(value))
    if violations:
        where, _, what = violations[0]
        return CheckedReply(None, f"it does not have the shape of a reply: {spec.dotted('reply', where)} {what}")
    return CheckedReply(value, None)


class JudgeAnswer(NamedTuple):
    """The answer of a judge to one call."""

    reply: bytes
    truncated: bool = False
    request_sha256: str | None = None
    response: bytes | None = None
    tokens: dict[str, int] | None = None
    tries: tuple[dict[str, Any], ...] = ()


class Kept(NamedTuple):
    """A reply that was kept."""

    attempt: int
    reply_sha256: str
    reply: CheckedReply


class RunFolder:
    """A run's folder. Writers must hold its lock."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def has_begun(self) -> bool:
        """Whether the run was described: everything before its first call is there."""
        return (self.path / "run.json").is_file()

    @property
    def bundle(self) -> Path:
        """Where the bundle is, or will be."""
        return self.path / "bundle.json"

    @property
    def partial(self) -> Path:
        """Where a bundle of the usable replies is, if one was asked for."""
        return self.path / "partial.json"

    def refuse_unknown_files(self) -> None:
        """Raise CannotRun if the folder holds something that is no part of a run."""
        names = {entry.name for entry in self.path.iterdir()} if self.path.is_dir() else set()
        unknown = sorted(name for name in names - _KNOWN if not name.endswith(_PART))
        if unknown and not self.has_begun:
            raise CannotRun(f"{self.path} holds {unknown[0]} and is no judge run: give --out a new folder")

    def clear_parts(self) -> None:
        """Remove half-written files of a run that was cut, and inputs of a run without run.json."""
        for part in self.path.rglob(f".*{_PART}"):
            part.unlink()
        if not self.has_begun:
            shutil.rmtree(self.path / "inputs", ignore_errors=True)

    def write(self, name: str, data: bytes) -> None:
        """Write a file atomically and sync it, with the folders that it needs."""
        target = self.path / name
        scratch = target.with_name(f".{target.name}{_PART}")
        with create_folder(target.parent):
            with scratch.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            scratch.replace(target)
            sync(target.parent)

    def read(self, name: str) -> bytes:
        """A file of the run."""
        return document_bytes(self.path / name, "max_kept_bytes")

    def description(self) -> dict[str, Any]:
        """The content of run.json, checked by its schema."""
        return self._document("run.json", "judge_run")

    def input(self, index: int) -> bytes:
        """The input for one file."""
        return self.read(input_name(index))

    def call(self, index: int, attempt: int) -> dict[str, Any]:
        """The record of an answered call."""
        return self._document(f"calls/{index:04d}-{attempt}.json", "judge_call")

    def keep(self, index: int, attempt: int, answer: JudgeAnswer, about: dict[str, Any]) -> Kept:
        """Keep an answer: its bytes first, then the record by which it counts."""
        stem = f"calls/{index:04d}-{attempt}"
        reply = read_reply(answer.reply, truncated=answer.truncated)
        record = {
            "index": index,
            "attempt": attempt,
            "input_sha256": about["input_sha256"],
            "request_sha256": answer.request_sha256,
            "reply_sha256": sha256(answer.reply),
            "response_sha256": None if answer.response is None else sha256(answer.response),
            "truncated": answer.truncated,
            "problem": reply.problem,
            "started_at": about["started_at"],
            "seconds": about["seconds"],
            "tokens": answer.tokens,
            "tries": list(answer.tries),
        }
        self.write(f"{stem}.reply", answer.reply)
        if answer.response is not None:
            self.write(f"{stem}.response", answer.response)
        self.write(f"{stem}.json", pretty({key: value for key, value in record.items() if value is not None}))
        return Kept(attempt, sha256(answer.reply), reply)

    def read_kept(self, index: int, input_sha256: str) -> list[Kept]:
        """The answers on a file, checked against their hashes."""
        found: list[Kept] = []
        while (self.path / f"calls/{index:04d}-{len(found) + 1}.json").is_file():
            stem = f"calls/{index:04d}-{len(found) + 1}"
            record = self.call(index, len(found) + 1)
            reply = self.read(f"{stem}.reply")
            hashes = {"reply": sha256(reply), "input": input_sha256}
            if "response_sha256" in record:
                hashes["response"] = sha256(self.read(f"{stem}.response"))
            for what, value in hashes.items():
                if record[f"{what}_sha256"] != value:
                    raise CannotRun(
                        f"the {what} of {self.path / stem}.json is not the one it records: a file was changed"
                    )
            found.append(Kept(len(found) + 1, hashes["reply"], read_reply(reply, truncated=record["truncated"])))
        return found

    def fail(self, index: int, attempt: int, record: dict[str, Any], kept: dict[str, bytes]) -> None:
        """Keep what is known of a call that brought no answer."""
        number = 1
        while (self.path / f"failures/{index:04d}-{attempt}-{number}.json").exists():
            number += 1
        stem = f"failures/{index:04d}-{attempt}-{number}"
        for suffix, data in kept.items():
            self.write(f"{stem}.{suffix}", data)
        self.write(f"{stem}.json", pretty(record))

    def _document(self, name: str, kind: str) -> dict[str, Any]:
        try:
            value: dict[str, Any] = spec.parse(self.read(name), max_depth=64)
        except spec.NotStrictJson as error:
            raise CannotRun(f"{self.path / name} was changed: {error}") from None
        for violation in spec.violations(f"eval/{kind}.json", value):
            raise CannotRun(f"{self.path / name} was changed: {violation.pointer} {violation.message}")
        return value


def input_name(index: int) -> str:
    """Where the input of a file is kept."""
    return f"inputs/{index:04d}.json"


def pretty(document: dict[str, Any]) -> bytes:
    """Return a document as indented JSON."""
    return json.dumps(document, indent=2).encode() + b"\n"


def sha256(data: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()
