"""Plan a run from its documents before any call: which judge, under which name, by which rules.

Everything that would make the bundle wrong or invalid later is refused here, before any call is paid for.
"""

from dataclasses import dataclass
from typing import Any

from normalizer.documents import lossless, protocol
from normalizer.documents.lossless import Number, dumps
from normalizer.documents.settings import BY_NAME, LIMITS, Manifest, Settings
from normalizer.errors import CannotRun
from normalizer.judge.leaks import coincidences
from normalizer.judge.packet import TASK, Prompt, prompt
from normalizer.screening.metadata import METADATA


@dataclass(frozen=True, slots=True)
class Plan:
    """A run that may be made."""

    manifest: Manifest
    files: tuple[dict[str, Any], ...]
    """The evaluated files, in the manifest's order."""
    prompt: Prompt
    metadata: dict[str, Any]
    """The bundle's run metadata, in its order."""
    identity: dict[str, str]
    """The documents by hash, as a ledger records them."""
    prompt_sha256: str
    """SHA-256 of the prompt that the judge was given."""
    task: tuple[str, ...]
    """Texts of the task that the judge is given with each file."""
    coincidences: list[str]


def plan(
    settings: Settings,
    model: str | None,
    *,
    parameters: dict[str, Any] | None = None,
    declared: frozenset[str] = frozenset(),
    described: dict[str, Any] | None = None,
) -> Plan:
    """Return the plan of a run. Raises CannotRun, or Leak, if the run cannot be made.

    `model` is the judge's name if it was not given in the manifest, `parameters` are further members of requests to an
    endpoint, `described` is the description of a run that was made, maybe by another version of this program.
    """
    manifest = settings.manifest
    if manifest is None:
        raise CannotRun("a judge run needs a manifest")
    stated = manifest.metadata
    phase = int(float(stated.get("phase", "0")))
    if manifest.relaxations and not protocol.may_relax(phase):
        raise CannotRun(
            f"the manifest states relaxations, which phase {phase} does not have: take them out or run phase 0"
        )
    version = described["protocol_version"] if described else protocol.version()
    if stated.get("protocol_version", version) != version:
        raise CannotRun(
            f"the manifest names the protocol version {dumps(stated['protocol_version'])}, but this program follows "
            f"{version}: correct the manifest or take the right version of the program"
        )
    judge = stated.get("judge_model", model)
    if model is not None and judge != model:
        raise CannotRun(f"the manifest says {dumps(judge)} judges, --model says {dumps(model)}: make them agree")
    rubric = lossless.parse(settings.documents[settings.identity["rubric"]].encode(), LIMITS["max_depth"])
    task = _task(manifest)
    told = prompt(phase, list(manifest.relaxations), rubric, task)
    prompt_sha256 = described["prompt_sha256"] if described else told.sha256
    metadata = {
        "judge_prompt_version": f"prompt-{prompt_sha256[:16]}",
        **({"judge_settings": dumps(parameters)} if parameters else {}),
        **stated,
        "judge_prompt_sha256": prompt_sha256,
        "protocol_version": version,
        "judge_model": judge,
        "generator_model": _find_shared([_generator(manifest, file) for file in manifest.files.values()]),
        "phase": Number(str(phase)),
        "self_judged": _label(manifest, judge),
        "rubric": settings.rubric.name,
    }
    _require(metadata, manifest, phase)
    return Plan(
        manifest=manifest,
        files=tuple(manifest.files.values()),
        prompt=told,
        metadata={key: metadata[key] for key in METADATA if metadata.get(key) is not None},
        identity={name: settings.identity[name] for name in ("manifest", "rubric")},
        prompt_sha256=prompt_sha256,
        task=task,
        coincidences=coincidences(told, manifest, judge, rubric, parameters or {}, declared),
    )


def _task(manifest: Manifest) -> tuple[str, ...]:
    """The texts of the task that all files have. Files may not differ in that: it would tell them apart."""
    members = {
        file["file"]: tuple(name for name in TASK if name in file.get("task", {})) for file in manifest.files.values()
    }
    first, *_ = members.values()
    for name, stated in members.items():
        if stated != first:
            raise CannotRun(
                f"the manifest states {_words(first)} for its first file and {_words(stated)} for {dumps(name)}: "
                "state the same for every file, since a difference would give the judge a hint"
            )
    return first


def _words(task: tuple[str, ...]) -> str:
    return f"a {' and a '.join(task)}" if task else "no task"


def _generator(manifest: Manifest, file: dict[str, Any]) -> str | None:
    name: str | None = file.get("generator_model", manifest.metadata.get("generator_model"))
    return name


def _find_shared(values: list[Any]) -> Any:
    """The value that all of them share, or None."""
    return values[0] if all(value == values[0] for value in values) else None


def _label(manifest: Manifest, judge: str | None) -> bool | None:
    """The bundle's self-judging label. None: the files' own labels in the manifest say it, or it cannot be known."""
    labels = []
    for file in manifest.files.values():
        generator = _generator(manifest, file)
        known = judge is not None and generator is not None
        own = protocol.judges_itself({"judge_model": judge, "generator_model": generator}) if known else None
        label = file.get("self_judged", manifest.metadata.get("self_judged"))
        if label == BY_NAME:
            labels.append((own, True))
            continue
        if own and label is False:
            raise CannotRun(
                f"{dumps(judge)} would judge its own output {dumps(file['file'])}, which the manifest labels "
                "self_judged: false; label it true"
            )
        labels.append((own if label is None else label, label is not None))
    shared: bool | None = _find_shared([label for label, _ in labels])
    if shared is None and any(label and not said for label, said in labels):
        raise CannotRun(
            f"{dumps(judge)} would judge its own outputs beside those of others: label its files in the manifest "
            "with self_judged: true, the others with false"
        )
    stated = manifest.metadata.get("self_judged", shared)
    return shared if stated == BY_NAME else stated


def _require(metadata: dict[str, Any], manifest: Manifest, phase: int) -> None:
    """Raise CannotRun if metadata is missing that the phase requires of the bundle."""
    needed = protocol.must_record(phase)
    if "judge_model" in needed and metadata["judge_model"] is None:
        raise CannotRun(f"phase {phase} needs the judge recorded: give judge_model in the manifest, or --model NAME")
    if "generator_model" in needed:
        for file in manifest.files.values():
            if _generator(manifest, file) is None:
                raise CannotRun(f"phase {phase} needs generator_model in the manifest: {dumps(file['file'])} has none")
