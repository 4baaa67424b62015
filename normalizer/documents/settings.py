"""Under what bundles are normalized: the rubric, and where given a manifest and a dialect, read and checked."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import contract_spec as spec

from normalizer.documents import lossless, protocol
from normalizer.documents.dialect import Dialect, dialect_of
from normalizer.documents.lossless import dumps, plain
from normalizer.documents.manifest import Manifest, files_named_twice, manifest_of
from normalizer.documents.rubric import Rubric, contradictions, rubric_of
from normalizer.errors import UnusableDocument

BUILT_IN_RUBRIC = "rules/rubrics/prompt-drift-v1.json"
LIMITS: dict[str, int] = spec.resource("rules/limits.json")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything but a bundle's bytes that its records depend on."""

    rubric: Rubric
    manifest: Manifest | None
    dialect: Dialect | None
    identity: dict[str, str]
    """What a ledger records: the protocol, and the documents by hash."""
    documents: dict[str, str]
    """The documents in compact form, by hash."""


def load(rubric: bytes | None = None, manifest: bytes | None = None, dialect: bytes | None = None) -> Settings:
    """Settings from the bytes of their documents; without a rubric, the built-in one."""
    rubric_document = document(
        "rubric", rubric if rubric is not None else json.dumps(spec.resource(BUILT_IN_RUBRIC)).encode()
    )
    for _, sentence in contradictions(rubric_document):
        raise UnusableDocument(f"the rubric contradicts itself: {sentence}")
    chosen = {"rubric": rubric_document}
    if manifest is not None:
        chosen["manifest"] = document("run_manifest", manifest)
        for name in files_named_twice(chosen["manifest"]):
            raise UnusableDocument(f"the manifest names the file {dumps(name)} twice: name it once")
        named = chosen["manifest"].get("rubric", rubric_document["name"])
        if named != rubric_document["name"]:
            raise UnusableDocument(
                f"the manifest names the rubric {dumps(named)}, but {dumps(rubric_document['name'])} is active: "
                "give the right one with --rubric"
            )
    if dialect is not None:
        chosen["dialect"] = document("dialect", dialect)
    texts = {name: dumps(value) for name, value in chosen.items()}
    hashes = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    return Settings(
        rubric=rubric_of(rubric_document),
        manifest=manifest_of(chosen["manifest"]) if "manifest" in chosen else None,
        dialect=dialect_of(chosen["dialect"]) if "dialect" in chosen else None,
        identity={"protocol": protocol.version(), **hashes},
        documents={hashes[name]: text for name, text in texts.items()},
    )


def document(kind: str, data: bytes) -> dict[str, Any]:
    """A document that its schema accepts, numbers as they are spelled."""
    try:
        value = lossless.parse(data, LIMITS["max_depth"])
    except spec.NotStrictJson as error:
        raise UnusableDocument(f"the {kind} is not strict JSON: {error}") from None
    for violation in spec.violations(f"eval/{kind}.json", plain(value)):
        where = violation.pointer or "the document"
        raise UnusableDocument(f"the {kind} does not fit its schema: {where} {violation.message}")
    checked: dict[str, Any] = value
    return checked
