"""A run from its first call to its bundle, or to the files that have no usable reply."""

import asyncio
import signal
from collections.abc import Callable
from typing import NamedTuple, TextIO

from normalizer.errors import CannotRun, Interrupted
from normalizer.judge.assemble import bundle, find_unanswered
from normalizer.judge.calling.call_loop import CallLoop, list_pending
from normalizer.judge.calling.calls import Judge
from normalizer.judge.calling.progress import CallProgress
from normalizer.judge.plan import Plan
from normalizer.judge.prepare import read_answers
from normalizer.judge.run_folder import Kept, RunFolder


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
