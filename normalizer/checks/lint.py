"""Find contradictions in rubrics, manifests and dialects before a run is paid for."""

import json
from collections import Counter
from typing import Any, NamedTuple

import contract_spec as spec

from normalizer.containers.mapping import Mapping
from normalizer.documents import lossless, protocol
from normalizer.documents.lossless import Number, dumps, exact_value, to_builtin
from normalizer.documents.pointers import escape, steps_of
from normalizer.documents.rubric import rubric_mistakes
from normalizer.documents.settings import LIMITS, check_dialect, files_named_twice
from normalizer.errors import UnusableDocument, did_you_mean
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
        LintFinding(name, violation.pointer, violation_in_words(f"eval/{kind}.json", value, violation))
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
    if value.get("relaxations") and not protocol.may_relax(phase):
        found.append(LintFinding(name, "/relaxations", f"a run of phase {phase} has no relaxations: only phase 0 may"))
    for key in protocol.must_record(phase):
        if key not in value and key not in OF_EACH_FILE:
            found.append(LintFinding(name, f"/{key}", f"phase {phase} requires {key}"))
    for index, item in enumerate(value["files"]):
        found += _file(name, f"/files/{index}", value, item, phase)
    return found


def _file(name: str, at: str, value: dict[str, Any], item: dict[str, Any], phase: int) -> list[LintFinding]:
    generator = item.get("generator_model", value.get("generator_model"))
    if generator is None:
        required = "generator_model" in protocol.must_record(phase)
        return (
            [LintFinding(name, f"{at}/generator_model", f"phase {phase} requires generator_model")] if required else []
        )
    labelled = item.get("self_judged", value.get("self_judged"))
    if protocol.judges_itself({**value, "generator_model": generator}) and labelled is not True:
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
        told = [("/fields/scores/", key, f"its rubric has no dimension {dumps(key)}") for key in sorted(scored - scale)]
        told += [
            ("/rubric/dimensions/", key, f"no field gives a score for {dumps(key)}") for key in sorted(scale - scored)
        ]
        told += [
            ("/fields/scores/", key, f"{dumps(key)} may be omitted, and its rubric demands it")
            for key in sorted(scored & scale)
            if "omitted" in value["fields"]["scores"][key] and not value["rubric"]["dimensions"][key].get("optional")
        ]
        found += [LintFinding(name, f"{at}{escape(key)}", message) for at, key, message in told]
    return found


_LONGEST = 60


def violation_in_words(schema: str, value: Any, violation: spec.Violation) -> str:
    """Return a violation in words, with similar names for an unknown member or the wrong value of a known one."""
    *above, last = steps_of(violation.pointer) or [""]
    if violation.keyword == "additionalProperties":
        known = _members(_schema_at(schema, value, above))
        return f"{violation.message}: {did_you_mean(last, known)}" if known else violation.message
    if violation.keyword in ("required", "type"):
        return violation.message
    wrong = _value_at(value, steps_of(violation.pointer))
    shown = dumps(wrong)
    shown = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}..."
    near = ""
    if violation.keyword == "enum" and isinstance(wrong, str):
        allowed = json.loads(violation.message.removeprefix("must be one of "))
        guess = did_you_mean(wrong, [each for each in allowed if isinstance(each, str)])
        near = f"; {guess}" if guess.startswith("did") else ""
    return f"{violation.message}, not {shown}{near}"


def _members(schema: dict[str, Any]) -> list[str]:
    return list(schema.get("properties", {}))


def _value_at(value: Any, steps: list[str]) -> Any:
    for step in steps:
        members = dict(enumerate(value)) if isinstance(value, list) else value
        key = int(step) if isinstance(value, list) else step
        value = members.get(key) if isinstance(members, dict) else None
    return value


def _schema_at(name: str, value: Any, steps: list[str]) -> dict[str, Any]:
    """Return the schema of the value at a path; an empty one if it cannot be determined."""
    document = spec.schema(name)
    node: dict[str, Any] = document
    for step in ["", *steps] if steps else [""]:
        if step:
            node = node.get("properties", {}).get(step) or node.get("items") or node.get("additionalProperties") or {}
            value = _value_at(value, [step]) if isinstance(value, (dict, list)) else None
        node, document, name = _resolve(node, document, name)
        for branch in node.get("oneOf", []):
            inner, _, _ = _resolve(branch, document, name)
            if isinstance(value, dict) and inner.get("properties", {}).get("kind", {}).get("const") == value.get(
                "kind"
            ):
                node = inner  # `kind` selects the alternative
    return node


def _resolve(node: dict[str, Any], document: Any, name: str) -> tuple[dict[str, Any], Any, str]:
    """Return the schema that a reference leads to, and its document."""
    while "$ref" in node:
        file, _, fragment = str(node["$ref"]).partition("#")
        if file:
            name = f"{name.rpartition('/')[0]}/{file}"
            document = spec.schema(name)
        node = document
        for step in steps_of(fragment):
            node = node[step]
    return node, document, name
