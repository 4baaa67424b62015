"""Rebuild the bundle of a run from its kept replies, without calling a judge. Every hash is checked."""

from typing import Any, NamedTuple

from normalizer.documents import protocol
from normalizer.documents.lossless import dumps, parse
from normalizer.documents.settings import LIMITS, load
from normalizer.errors import CannotRun
from normalizer.judge import leaks
from normalizer.judge.calling.endpoint import request_body
from normalizer.judge.packet import content_of
from normalizer.judge.plan import Plan, plan
from normalizer.judge.prepare import read_answers
from normalizer.judge.run import bundle, find_unanswered
from normalizer.judge.run_folder import Kept, RunFolder, sha256


class Replayed(NamedTuple):
    """Outcome of a replay."""

    bundle: bytes | None
    """None: some file has no usable reply."""
    missing: list[str]
    note: str | None


class Reopened(NamedTuple):
    """A run that was begun, read from its folder. Every hash was checked."""

    plan: Plan
    judge: dict[str, Any]
    inputs: list[str]
    """SHA-256 of the inputs."""
    kept: list[list[Kept]]
    note: str | None


def replay(run: RunFolder) -> Replayed:
    """Check the stored files of a run, and rebuild its bundle from them."""
    found = reopen(run)
    missing = [found.plan.files[index]["file"] for index in find_unanswered(found.kept)]
    rebuilt = None if missing else bundle(found.plan, found.judge["kind"], found.inputs, found.kept)
    return Replayed(rebuilt, missing, found.note)


def reopen(run: RunFolder) -> Reopened:
    """Read a run and check everything that it keeps. Raises CannotRun where something is missing or was changed."""
    if not run.has_begun:
        raise CannotRun(f"{run.path} is no judge run: it has no run.json")
    description = run.description()
    documents = {name: run.read(f"{name}.json") for name in ("manifest", "rubric")}
    for name, data in documents.items():
        if sha256(data) != description[f"{name}_sha256"]:
            raise CannotRun(f"{run.path / name}.json was changed since the run began")
    version = description["protocol_version"]
    judge = description["judge"]
    planned = plan(
        load(documents["rubric"], documents["manifest"]),
        judge.get("model"),
        parameters=judge.get("parameters"),
        declared=frozenset(description["coincidences"]),
        described=description,
    )
    if len(planned.files) != len(description["files"]):
        raise CannotRun(f"{run.path / 'run.json'} was changed: it does not list the files of the manifest")
    hashes = [file["input_sha256"] for file in description["files"]]
    kept = read_answers(run, hashes)
    note = None
    if version == protocol.version():
        if planned.prompt.sha256 != planned.prompt_sha256:
            raise CannotRun(f"{run.path / 'run.json'} was changed: its prompt is not that of manifest and rubric")
        _check_inputs(run, planned, [file["content_sha256"] for file in description["files"]])
        _check_requests(run, judge, [len(attempts) for attempts in kept])
    else:
        note = (
            f"the run followed protocol version {version}, not {protocol.version()}: inputs were checked by hash alone"
        )
    return Reopened(planned, judge, hashes, kept, note)


def _check_inputs(run: RunFolder, planned: Plan, contents: list[str]) -> None:
    """Check that this version would make the same inputs from the same content, and that they leak nothing."""
    for index, expected in enumerate(contents):
        data = run.input(index)
        content = content_of(parse(data, LIMITS["max_depth"]))
        if sha256(content) != expected:
            raise CannotRun(f"the file part of input {index} is not the content that run.json records")
        if planned.files[index].get("sha256", expected) != expected:
            raise CannotRun(f"{dumps(planned.files[index]['file'])} is not the file the manifest means")
        leaks.refuse_leaks(data, content, planned.prompt, planned.files[index].get("task"))


def _check_requests(run: RunFolder, judge: dict[str, object], attempts: list[int]) -> None:
    """Check that the requests to an endpoint carried exactly these inputs."""
    if judge["kind"] != "endpoint":
        return
    for index, count in enumerate(attempts):
        parameters = judge["parameters"]
        assert isinstance(parameters, dict)  # noqa: S101 - its schema says so
        expected = sha256(request_body(run.input(index), str(judge["model"]), parameters))
        for attempt in range(1, count + 1):
            if run.call(index, attempt)["request_sha256"] != expected:
                raise CannotRun(f"call {attempt} on input {index} records another request than its input makes")
