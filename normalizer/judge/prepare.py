"""Prepare a run before its first call: make and check every input, write run.json, or resume a run that was cut."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import contract_spec as spec

from normalizer.documents import artifacts
from normalizer.documents.lossless import dumps
from normalizer.errors import CannotRun
from normalizer.judge import leaks
from normalizer.judge.packet import UnreadableInput, is_text, packet
from normalizer.judge.plan import Plan
from normalizer.judge.run_folder import Kept, RunFolder, input_name, pretty, sha256


@dataclass(frozen=True, slots=True)
class Documents:
    """The bytes of manifest and rubric, as they were given."""

    manifest: bytes
    rubric: bytes


@dataclass(frozen=True, slots=True)
class PreparedInput:
    """An input, known by its hashes."""

    content_sha256: str
    input_sha256: str
    size: int
    text: bool
    """Whether the file is a text: of a PDF only the judge knows how many tokens it makes."""


def inputs(plan: Plan, folder: Path, take: Callable[[int, bytes], None]) -> list[PreparedInput]:
    """Make and check the input of every file, one after the other, and hand its bytes over."""
    made = []
    for index, file in enumerate(plan.files):
        content = artifacts.read(folder, file)
        try:
            data = packet(plan.prompt, content, file.get("task"))
        except UnreadableInput as error:
            raise CannotRun(f"{dumps(file['file'])} cannot be judged: {error}") from None
        leaks.refuse_leaks(data, content, plan.prompt, file.get("task"))
        take(index, data)
        made.append(PreparedInput(sha256(content), sha256(data), len(data), is_text(data)))
    return made


def describe(
    plan: Plan,
    judge: dict[str, Any],
    documents: Documents,
    made: list[PreparedInput],
    leg: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The content of run.json."""
    return {
        "protocol_version": plan.metadata["protocol_version"],
        "judge": judge,
        **({} if leg is None else {"leg": leg}),
        "manifest_sha256": sha256(documents.manifest),
        "rubric_sha256": sha256(documents.rubric),
        "prompt_sha256": plan.prompt_sha256,
        "coincidences": plan.coincidences,
        "files": [{"content_sha256": one.content_sha256, "input_sha256": one.input_sha256} for one in made],
    }


def begin(
    run: RunFolder,
    plan: Plan,
    judge: dict[str, Any],
    documents: Documents,
    folder: Path,
    leg: dict[str, Any] | None = None,
) -> list[str]:
    """Write a new run's folder up to its first call, or check that a begun one is the same run.

    Returns the hashes of the inputs. Raises CannotRun where a begun run is another one.
    """
    run.refuse_unknown_files()
    run.clear_parts()
    begun = run.has_begun

    def take(index: int, data: bytes) -> None:
        if not begun:
            run.write(input_name(index), data)

    made = inputs(plan, folder, take)
    description = describe(plan, judge, documents, made, leg)
    for violation in spec.violations("eval/judge_run.json", description):
        raise CannotRun(f"the run cannot be described: {violation.pointer} {violation.message}")
    if begun:
        _same(run, description, plan)
    else:
        run.write("manifest.json", documents.manifest)
        run.write("rubric.json", documents.rubric)
        run.write("run.json", pretty(description))
    return [one.input_sha256 for one in made]


def _same(run: RunFolder, description: dict[str, Any], plan: Plan) -> None:
    before = run.description()
    for index, (old, new) in enumerate(zip(before["files"], description["files"], strict=False)):
        if old["content_sha256"] != new["content_sha256"]:
            name = dumps(plan.files[index]["file"])
            raise CannotRun(
                f"{name} has changed since the run in {run.path} began: restore it, or give --out a new folder"
            )
    for key, value in description.items():
        if before.get(key) != value:
            what = key.removesuffix("_sha256")
            other = "give --out a new folder"
            if key == "judge":
                other = "go on with this one as a leg, --leg NAME --model NAME, or give --out a new folder"
            raise CannotRun(f"the run in {run.path} was begun with another {what}: {other}")


def read_answers(run: RunFolder, hashes: list[str]) -> list[list[Kept]]:
    """The answers there are, file by file. The inputs are checked against their hashes too."""
    for index, expected in enumerate(hashes):
        if sha256(run.input(index)) != expected:
            raise CannotRun(f"{run.path / input_name(index)} was changed: restore it, or give --out a new folder")
    return [run.read_kept(index, expected) for index, expected in enumerate(hashes)]
