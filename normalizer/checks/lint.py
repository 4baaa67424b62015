"""Find contradictions in rubrics, manifests and dialects before a run is paid for."""

from collections import Counter
from typing import Any, NamedTuple

import contract_spec as spec

from normalizer.checks import hints
from normalizer.containers.mapping import Mapping
from normalizer.documents import lossless, phases
from normalizer.documents.lossless import Number, dumps, exact_value, to_builtin
from normalizer.documents.manifest import files_named_twice
from normalizer.documents.pointers import escape
from normalizer.documents.rubric import rubric_mistakes
from normalizer.documents.settings import LIMITS, check_dialect
from normalizer.errors import UnusableDocument
from normalizer.screening.bundle import OF_EACH_FILE

_EMPTY: dict[str, Any] = {"dimensions": {}}


class LintFinding(NamedTuple):
    """A contradiction: the document, the place, and what would be right."""

    document: str
    pointer: str
    message: str


def read_document(name: str, kind: str, data: bytes) -> tuple[Any, list[LintFinding]]:
    """Return the document and its schema violations. Use the document only if there are none."""
    try:
        value = lossless.parse(data, LIMITS["max_depth"])
    except spec.NotStrictJson as error:
        return None, [LintFinding(name, "", f"it is not strict JSON: {error}")]
    found = [
        LintFinding(name, violation.pointer, hints.violation_in_words(f"eval/{kind}.json", value, violation))
        for violation in spec.violations(f"eval/{kind}.json", to_builtin(value))
    ]
    return value, found


def rubric(name: str, value: dict[str, Any]) -> list[LintFinding]:
    """Return findings about a rubric that its schema accepts."""
    return [LintFinding(name, pointer, sentence) for pointer, sentence in rubric_mistakes(value)]


def manifest(name: str, value: dict[str, Any], rubric_name: str) -> list[LintFinding]:
    """Return findings about a manifest that its schema accepts, such as a phase without what it requires."""
    found = [LintFinding(name, "/files", f"the file {dumps(file)} is named twice") for file in files_named_twice(value)]
    artifacts = Counter(item["artifact"] for item in value["files"] if "artifact" in item)
    found += [
        LintFinding(name, "/files", f"the artifact {dumps(artifact)} is named {count} times: a run judges it once")
        for artifact, count in artifacts.items()
        if count > 1
    ]
    if value.get("rubric", rubric_name) != rubric_name:
        found.append(
            LintFinding(name, "/rubric", f"it names {dumps(value['rubric'])}, but {dumps(rubric_name)} is active")
        )
    stated = exact_value(value.get("phase", Number("0")))
    phase = int(stated) if stated is not None else 0
    if value.get("relaxations") and not phases.may_relax(phase):
        found.append(LintFinding(name, "/relaxations", f"a run of phase {phase} has no relaxations: only phase 0 may"))
    for key in phases.must_record(phase):
        if key not in value and key not in OF_EACH_FILE:
            found.append(LintFinding(name, f"/{key}", f"phase {phase} requires {key}"))
    for index, item in enumerate(value["files"]):
        found += _file(name, f"/files/{index}", value, item, phase)
    return found


def _file(name: str, at: str, value: dict[str, Any], item: dict[str, Any], phase: int) -> list[LintFinding]:
    generator = item.get("generator_model", value.get("generator_model"))
    if generator is None:
        required = "generator_model" in phases.must_record(phase)
        return (
            [LintFinding(name, f"{at}/generator_model", f"phase {phase} requires generator_model")] if required else []
        )
    labelled = item.get("self_judged", value.get("self_judged"))
    if phases.judges_itself({**value, "generator_model": generator}) and labelled is not True:
        message = f"{dumps(generator)} would judge its own output, which must be labelled self_judged: true"
        return [LintFinding(name, f"{at}/self_judged", message)]
    return []


def dialect(name: str, value: dict[str, Any]) -> list[LintFinding]:
    """Return findings about a dialect that its schema accepts."""
    if "container" in value or "fields" in value:
        return _rows(name, value)
    found = []
    for part in ("bundle", "entry"):
        puts = Counter(step["put"] for step in value.get(part, []) if "put" in step)
        found += [
            LintFinding(name, f"/{escape(part)}", f"{count} steps put something at {put}: only the first can")
            for put, count in puts.items()
            if count > 1
        ]
    if not value.get("bundle") and not value.get("entry"):
        found.append(LintFinding(name, "", "it declares no step"))
    return found


def _rows(name: str, value: dict[str, Any]) -> list[LintFinding]:
    """Return findings about a dialect that reads rows: errors of a run, and scores that its rubric lacks."""
    try:
        Mapping(check_dialect(dumps(value).encode()))
    except UnusableDocument as error:
        return [LintFinding(name, "", str(error))]
    found = [
        LintFinding(name, f"/rubric{at}", sentence) for at, sentence in rubric_mistakes(value.get("rubric", _EMPTY))
    ]
    if "rubric" in value:
        scored, scale = value["fields"]["scores"].keys(), value["rubric"]["dimensions"].keys()
        found += [
            LintFinding(name, f"/fields/scores/{escape(key)}", f"its rubric has no dimension {dumps(key)}")
            for key in sorted(scored - scale)
        ]
        found += [
            LintFinding(name, f"/rubric/dimensions/{escape(key)}", f"no field gives a score for {dumps(key)}")
            for key in sorted(scale - scored)
        ]
        found += [
            LintFinding(
                name, f"/fields/scores/{escape(key)}", f"{dumps(key)} may be omitted, and its rubric demands it"
            )
            for key in sorted(scored & scale)
            if "omitted" in value["fields"]["scores"][key] and not value["rubric"]["dimensions"][key].get("optional")
        ]
    return found
