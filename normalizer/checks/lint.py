"""Contradictions in what a run would be held to, found before the run is paid for. Documents are judged, not runs."""

from collections import Counter
from typing import Any, NamedTuple

import contract_spec as spec

from normalizer.checks import hints
from normalizer.containers.mapping import Mapping
from normalizer.documents import lossless, phases
from normalizer.documents.lossless import Number, dumps, plain, value_of
from normalizer.documents.manifest import files_named_twice
from normalizer.documents.pointers import escape
from normalizer.documents.rubric import contradictions
from normalizer.documents.settings import LIMITS, checked_dialect
from normalizer.errors import UnusableDocument
from normalizer.screening.bundle_rules import OF_EACH_FILE

_EMPTY: dict[str, Any] = {"dimensions": {}}


class Finding(NamedTuple):
    """A contradiction: in which document, where, and what would be right."""

    document: str
    pointer: str
    message: str


def document(name: str, kind: str, data: bytes) -> tuple[Any, list[Finding]]:
    """The document, and what its schema holds against it; only a document with nothing against it is to be used."""
    try:
        value = lossless.parse(data, LIMITS["max_depth"])
    except spec.NotStrictJson as error:
        return None, [Finding(name, "", f"it is not strict JSON: {error}")]
    found = [
        Finding(name, violation.pointer, hints.told(f"eval/{kind}.json", value, violation))
        for violation in spec.violations(f"eval/{kind}.json", plain(value))
    ]
    return value, found


def rubric(name: str, value: dict[str, Any]) -> list[Finding]:
    """What is wrong with a rubric that its schema accepts."""
    return [Finding(name, pointer, sentence) for pointer, sentence in contradictions(value)]


def manifest(name: str, value: dict[str, Any], rubric_name: str) -> list[Finding]:
    """What is wrong with a manifest that its schema accepts: above all a phase without what it requires."""
    found = [Finding(name, "/files", f"the file {dumps(file)} is named twice") for file in files_named_twice(value)]
    artifacts = Counter(item["artifact"] for item in value["files"] if "artifact" in item)
    found += [
        Finding(name, "/files", f"the artifact {dumps(artifact)} is named {count} times: a run judges it once")
        for artifact, count in artifacts.items()
        if count > 1
    ]
    if value.get("rubric", rubric_name) != rubric_name:
        found.append(Finding(name, "/rubric", f"it names {dumps(value['rubric'])}, but {dumps(rubric_name)} is active"))
    stated = value_of(value.get("phase", Number("0")))
    phase = int(stated) if stated is not None else 0
    if value.get("relaxations") and not phases.may_relax(phase):
        found.append(Finding(name, "/relaxations", f"a run of phase {phase} has no relaxations: only phase 0 may"))
    for key in phases.must_record(phase):
        if key not in value and key not in OF_EACH_FILE:
            found.append(Finding(name, f"/{key}", f"phase {phase} requires {key}"))
    for index, item in enumerate(value["files"]):
        found += _file(name, f"/files/{index}", value, item, phase)
    return found


def _file(name: str, at: str, value: dict[str, Any], item: dict[str, Any], phase: int) -> list[Finding]:
    generator = item.get("generator_model", value.get("generator_model"))
    if generator is None:
        required = "generator_model" in phases.must_record(phase)
        return [Finding(name, f"{at}/generator_model", f"phase {phase} requires generator_model")] if required else []
    labelled = item.get("self_judged", value.get("self_judged"))
    if phases.judges_itself({**value, "generator_model": generator}) and labelled is not True:
        message = f"{dumps(generator)} would judge its own output, which must be labelled self_judged: true"
        return [Finding(name, f"{at}/self_judged", message)]
    return []


def dialect(name: str, value: dict[str, Any]) -> list[Finding]:
    """What is wrong with a dialect that its schema accepts."""
    if "container" in value or "fields" in value:
        return _rows(name, value)
    found = []
    for part in ("bundle", "entry"):
        puts = Counter(step["put"] for step in value.get(part, []) if "put" in step)
        found += [
            Finding(name, f"/{escape(part)}", f"{count} steps put something at {put}: only the first can")
            for put, count in puts.items()
            if count > 1
        ]
    if not value.get("bundle") and not value.get("entry"):
        found.append(Finding(name, "", "it declares no step"))
    return found


def _rows(name: str, value: dict[str, Any]) -> list[Finding]:
    """What is wrong with a dialect that reads rows: what a run would refuse, and scores that its rubric lacks."""
    try:
        Mapping(checked_dialect(dumps(value).encode()))
    except UnusableDocument as error:
        return [Finding(name, "", str(error))]
    found = [Finding(name, f"/rubric{at}", sentence) for at, sentence in contradictions(value.get("rubric", _EMPTY))]
    if "rubric" in value:
        scored, scale = value["fields"]["scores"].keys(), value["rubric"]["dimensions"].keys()
        found += [
            Finding(name, f"/fields/scores/{escape(key)}", f"its rubric has no dimension {dumps(key)}")
            for key in sorted(scored - scale)
        ]
        found += [
            Finding(name, f"/rubric/dimensions/{escape(key)}", f"no field gives a score for {dumps(key)}")
            for key in sorted(scale - scored)
        ]
    return found
