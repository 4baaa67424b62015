"""A run from its first call to its bundle, or to the files that have no usable reply.

The bytes of a bundle depend on nothing but the plan and the kept replies.
"""

import asyncio
import signal
from collections.abc import Callable
from typing import Any, NamedTuple, TextIO

import contract_spec as spec

from normalizer.documents.lossless import Number, dumps, to_builtin
from normalizer.documents.settings import LIMITS
from normalizer.errors import CannotRun, Interrupted
from normalizer.judge.calling.call_loop import CallLoop, list_pending
from normalizer.judge.calling.calls import Judge
from normalizer.judge.calling.progress import CallProgress
from normalizer.judge.plan import Plan
from normalizer.judge.prepare import read_answers
from normalizer.judge.run_folder import Kept, RunFolder
from normalizer.screening.bundle import ENTRIES
from normalizer.screening.entry_rules import FIELDS


class CallLimits(NamedTuple):
    """Limits on calls to the judge."""

    attempts: int
    """The most replies asked for, for each file, until one can be used."""
    jobs: int
    """Calls at a time."""
    partial: bool = False
    """Whether a bundle of the usable replies is written while some are missing."""


class Result(NamedTuple):
    """Outcome of a run."""

    files: int
    replies: int
    most: int
    """The most replies that any file has."""
    missing: dict[str, str]
    """Files without a usable reply, and why."""
    bundle: bytes | None
    """None while a file has no usable reply: an incomplete bundle is never written in its place."""
    partial: bytes | None = None
    """The bundle of the usable replies, if it was asked for and not all files have one."""


def ask_all(
    folder: RunFolder,
    plan: Plan,
    kind: str,
    inputs: list[str],
    judge: Callable[[], Judge],
    effort: CallLimits,
    stream: TextIO,
) -> Result:
    """Ask about every file that has no usable reply yet; write the bundle when all have one."""
    kept = read_answers(folder, inputs)
    waiting = list_pending(kept, effort.attempts)
    failures: dict[int, str] = {}
    if waiting:
        progress = CallProgress(len(kept), len(kept) - len(waiting), stream)
        conductor = CallLoop(folder, inputs, kept, effort.attempts, progress)
        stopped, failures = asyncio.run(conductor.run(judge(), min(effort.jobs, len(waiting))))
        if stopped and list_pending(kept, effort.attempts):
            done = len(kept) - len(find_unanswered(kept))
            told = f"stopped: {done} of {len(kept)} files have a usable reply; the same command goes on there"
            raise (Interrupted if stopped == signal.SIGINT else CannotRun)(told)
    missing = {plan.files[index]["file"]: failures.get(index) or _why(kept[index]) for index in find_unanswered(kept)}
    data = None if missing else _write_bundle(folder, bundle(plan, kind, inputs, kept))
    some = None
    if effort.partial and 0 < len(missing) < len(kept):
        some = bundle(plan, kind, inputs, kept, partial=True)
        folder.write(folder.partial.name, some)
    elif data is not None:
        folder.partial.unlink(missing_ok=True)
    return Result(len(kept), sum(map(len, kept)), max(map(len, kept)), missing, data, some)


def _why(replies: list[Kept]) -> str:
    if not replies:
        return "it was not asked about"
    count = f"{len(replies)} replies" if len(replies) > 1 else "1 reply"
    return f"{replies[-1].reply.problem} ({count})"


def _write_bundle(folder: RunFolder, data: bytes) -> bytes:
    """Write the bundle once. Raises CannotRun if another one is in its place."""
    if not folder.bundle.exists():
        folder.write(folder.bundle.name, data)
    elif folder.read(folder.bundle.name) != data:
        raise CannotRun(
            f"{folder.bundle} was changed since it was written: `normalizer judge {folder.path} --replay` compares"
        )
    return data


def find_unanswered(kept: list[list[Kept]]) -> list[int]:
    """Indexes of the files without a usable reply."""
    return [index for index, attempts in enumerate(kept) if _usable(attempts) is None]


def bundle(plan: Plan, kind: str, inputs: list[str], kept: list[list[Kept]], *, partial: bool = False) -> bytes:
    """The bundle: entries in the manifest's order, replies copied, numbers as they were spelled.

    It has a line for each entry, so that people can find one. A partial bundle leaves out the files without a usable
    reply, and says so in `bundle_meta`. Raises ValueError if such a file is there and `partial` is not set.
    """
    calls: list[dict[str, Any]] = []
    entries: list[dict[str, Any]] = []
    for file, input_sha256, attempts in zip(plan.files, inputs, kept, strict=True):
        chosen = _usable(attempts)
        if chosen is None or chosen.reply.members is None:
            if partial:
                continue
            raise ValueError(f"{file['file']} has no usable reply")
        entry = {"file": file["file"], **chosen.reply.members}
        entries.append({field: entry[field] for field in FIELDS if field in entry})
        attempt = Number(str(chosen.attempt))
        calls.append({"input_sha256": input_sha256, "attempts": attempt, "reply_sha256": chosen.reply_sha256})
    made = sum(len(attempts) for attempts in kept)
    meta = {
        "made_by": "normalizer judge",
        "judge": kind,
        "prompt_sha256": plan.prompt_sha256,
        "manifest_sha256": plan.identity["manifest"],
        "rubric_sha256": plan.identity["rubric"],
        "relaxations": [item["statement"] for item in plan.manifest.relaxations],
        **({"task": list(plan.task)} if plan.task else {}),
        "attempts": {"made": Number(str(made)), "unusable": Number(str(made - len(entries)))},
        "calls": calls,
    }
    if partial:
        meta["partial"] = {"files": Number(str(len(kept))), "without_entry": Number(str(len(kept) - len(entries)))}
    envelope = {**plan.metadata, "bundle_meta": meta}
    for violation in spec.violations("eval/judge_bundle.json", to_builtin({**envelope, ENTRIES: entries})):
        raise CannotRun(f"the bundle would not fit its schema: {violation.pointer} {violation.message}")
    members = [f"{dumps(key)}:{dumps(value)}" for key, value in envelope.items()]
    members.append(f"{dumps(ENTRIES)}:[\n" + ",\n".join(map(dumps, entries)) + "\n]")
    data = ("{\n" + ",\n".join(members) + "\n}\n").encode()
    if len(data) > LIMITS["max_bundle_bytes"]:
        raise CannotRun(f"the bundle would have {len(data)} bytes, more than a bundle may have: judge in several runs")
    return data


def _usable(attempts: list[Kept]) -> Kept | None:
    return next((one for one in attempts if one.reply.members is not None), None)
