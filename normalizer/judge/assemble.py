"""Assemble the bundle of a run from its plan and kept replies. The bytes depend on nothing else."""

from typing import Any

import contract_spec as spec

from normalizer.documents.lossless import Number, dumps, to_builtin
from normalizer.documents.settings import LIMITS
from normalizer.errors import CannotRun
from normalizer.judge.plan import Plan
from normalizer.judge.run_folder import Kept
from normalizer.screening.bundle import ENTRIES
from normalizer.screening.entry_rules import FIELDS


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
        calls.append(
            {
                "input_sha256": input_sha256,
                "attempts": Number(str(chosen.attempt)),
                "reply_sha256": chosen.reply_sha256,
            }
        )
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
