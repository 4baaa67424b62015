"""The settings of a run: its rubric and, if given, manifest, dialect, stated metadata and limits."""

import hashlib
import json
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import contract_spec as spec

from normalizer.documents import lossless, protocol
from normalizer.documents.lossless import dumps, to_builtin
from normalizer.documents.pointers import DialectStep
from normalizer.documents.rubric import Rubric, rubric_mistakes, rubric_of
from normalizer.errors import UnusableDocument

STATED = ("phase", "protocol_version", "self_judged")
"""Run metadata that a dialect may state."""


class Dialect(NamedTuple):
    """How one judge or tool writes."""

    name: str
    bundle: tuple[DialectStep, ...]
    entry: tuple[DialectStep, ...]
    rows: dict[str, Any] | None
    """The document itself where it declares a container, whose rows are read; None for judge bundles."""
    metadata: dict[str, Any]
    """Run metadata that it states for the files it reads."""


def dialect_of(document: dict[str, Any]) -> Dialect:
    """The dialect a valid document declares."""
    steps = {
        part: tuple(DialectStep(step["take"], step.get("put")) for step in document.get(part, []))
        for part in ("bundle", "entry")
    }
    rows = document if "container" in document else None
    metadata = {name: document[name] for name in STATED if name in document}
    return Dialect(document["name"], steps["bundle"], steps["entry"], rows, metadata)


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest that its schema accepts and that names no file twice."""

    metadata: dict[str, Any]
    files: dict[str, dict[str, Any]]
    """By `file`, in the manifest's order."""
    relaxations: tuple[dict[str, str], ...]

    @property
    def exemptions(self) -> frozenset[str]:
        """The constraints that the relaxations lift."""
        return frozenset(item["constraint"] for item in self.relaxations if "constraint" in item)


def manifest_of(document: dict[str, Any]) -> Manifest:
    """The manifest a document declares."""
    metadata = {key: value for key, value in document.items() if key not in ("files", "relaxations")}
    files = {item["file"]: item for item in document["files"]}
    return Manifest(metadata, files, tuple(document.get("relaxations", [])))


def files_named_twice(document: dict[str, Any]) -> list[str]:
    """Return the files that are listed more than once."""
    return [name for name, count in Counter(item["file"] for item in document["files"]).items() if count > 1]


BUILT_IN_RUBRIC = "rules/rubrics/prompt-drift-v1.json"
BY_NAME = "by_name"
"""The label of a run whose records are labelled self-judged by the names of judge and generator."""
OUR_PROTOCOL = "this"
"""The protocol version of a dialect that stands for ours."""
LIMITS: dict[str, int] = spec.resource("rules/limits.json")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that the records of a bundle depend on, besides its bytes."""

    rubric: Rubric
    manifest: Manifest | None
    dialect: Dialect | None
    identity: dict[str, str]
    """The identity that a ledger records: the protocol, and the documents by hash."""
    documents: dict[str, str]
    """The documents in compact form, by hash."""
    stated: dict[str, Any] = field(default_factory=dict)
    """Run metadata that the user stated with --set. It is used where nothing else gives a value."""
    limits: dict[str, int] = field(default_factory=lambda: LIMITS)
    """`rules/limits.json`, with the values that the user set."""
    joined: str | None = None
    """The text of the second file whose rows the dialect joins."""

    @property
    def reads_rows(self) -> bool:
        """Whether the dialect reads rows of a container, and not judge bundles."""
        return self.dialect is not None and self.dialect.rows is not None

    @property
    def run(self) -> dict[str, Any]:
        """Metadata of the run that does not come from its files: the manifest's, and what was stated.

        A label `by_name` is not a value of the run, so it is left out: see `labels_by_name`.
        """
        given = self._metadata
        return {key: given[key] for key in given if key != "self_judged" or given[key] != BY_NAME}

    @property
    def _metadata(self) -> dict[str, Any]:
        return run_metadata(self.manifest, self.stated)

    @property
    def of_dialect(self) -> dict[str, Any]:
        """Run metadata that the dialect states, as far as the run has none of its own."""
        return metadata_of_dialect(self.dialect, self._metadata, protocol.version())

    @property
    def labels_by_name(self) -> bool:
        """Whether records without a label are labelled self-judged by the names of judge and generator."""
        metadata = self.dialect.metadata if self.dialect is not None else {}
        return bool({**metadata, **self._metadata}.get("self_judged") == BY_NAME)

    def list_stated_by_dialect(self, others: Collection[str] = ()) -> list[str]:
        """Return the names of metadata that only the dialect states; `others` are stated by the file itself."""
        metadata = self.dialect.metadata if self.dialect is not None else {}
        return [key for key in metadata if key not in self._metadata and key not in others]


def metadata_of_dialect(dialect: Dialect | None, given: Collection[str], version: str) -> dict[str, Any]:
    """Return the run metadata that a dialect states, but for the names of `given`, which the run has of its own.

    `version` is the protocol version that `this` stands for. A label of self-judging is for each record to decide.
    """
    metadata = dialect.metadata if dialect is not None else {}
    stated = {key: value for key, value in metadata.items() if key not in given and key != "self_judged"}
    if stated.get("protocol_version") == OUR_PROTOCOL:
        stated["protocol_version"] = version
    return stated


def run_metadata(manifest: Manifest | None, stated: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata that a manifest and --set give a run; the manifest's where both do."""
    given = manifest.metadata if manifest is not None else {}
    factors = {**stated.get("factors", {}), **given.get("factors", {})}
    return {**stated, **given, **({"factors": factors} if factors else {})}


def load(
    rubric: bytes | None = None,
    manifest: bytes | None = None,
    dialect: bytes | None = None,
    stated: bytes | None = None,
    joined: bytes | None = None,
    limits: bytes | None = None,
) -> Settings:
    """Settings from the bytes of their documents; without a rubric the dialect's own, else the built-in one.

    `joined` is a document of `joined_file.json`.
    """
    chosen_dialect = check_dialect(dialect) if dialect is not None else None
    if rubric is None:
        own = (chosen_dialect or {}).get("rubric")
        rubric = dumps(own).encode() if own else json.dumps(spec.resource(BUILT_IN_RUBRIC)).encode()
    rubric_document = parse_document("rubric", rubric)
    for _, sentence in rubric_mistakes(rubric_document):
        raise UnusableDocument(f"the rubric contradicts itself: {sentence}")
    chosen = {"rubric": rubric_document}
    if manifest is not None:
        chosen["manifest"] = parse_document("run_manifest", manifest)
        for name in files_named_twice(chosen["manifest"]):
            raise UnusableDocument(f"the manifest names the file {dumps(name)} twice: name it once")
        named = chosen["manifest"].get("rubric", rubric_document["name"])
        if named != rubric_document["name"]:
            raise UnusableDocument(
                f"the manifest names the rubric {dumps(named)}, but {dumps(rubric_document['name'])} is active: "
                "give the right one with --rubric"
            )
    if chosen_dialect is not None:
        chosen["dialect"] = chosen_dialect
    if stated is not None:
        chosen["stated"] = parse_document("run_metadata", stated)
        _refuse_contradictions(chosen["stated"], chosen.get("manifest", {}), rubric_document["name"])
        if "baseline" in chosen["stated"] and (chosen_dialect or {}).get("kind") != "comparison":
            raise UnusableDocument("--set baseline is for dialects of the kind comparison: a bundle states its own")
    if joined is not None:
        chosen["joined"] = parse_document("joined_file", joined)
    if ("joined" in chosen) != ("join" in chosen.get("dialect", {})):
        raise UnusableDocument(
            "a dialect with join needs the second file, given with --join, and no other dialect has one"
        )
    if limits is not None:
        chosen["limits"] = parse_document("bundle_limits", limits)
    texts = {name: dumps(value) for name, value in chosen.items()}
    hashes = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    return Settings(
        rubric=rubric_of(rubric_document),
        manifest=manifest_of(chosen["manifest"]) if "manifest" in chosen else None,
        dialect=dialect_of(chosen["dialect"]) if "dialect" in chosen else None,
        identity={"protocol": protocol.version(), **hashes},
        documents={hashes[name]: text for name, text in texts.items()},
        stated=chosen.get("stated", {}),
        limits={**LIMITS, **to_builtin(chosen.get("limits", {}))},
        joined=chosen["joined"]["text"] if "joined" in chosen else None,
    )


def check_dialect(data: bytes) -> dict[str, Any]:
    """A dialect that moves members of bundles or maps rows, not both."""
    value = parse_document("dialect", data)
    declared = "comparison" if value.get("kind") == "comparison" else "fields"
    other = "fields" if declared == "comparison" else "comparison"
    if other in value:
        raise UnusableDocument(
            f"the dialect has {other}, which belongs to the other kind: state its kind, or use {declared}"
        )
    if ("container" in value) != (declared in value):
        raise UnusableDocument(f"the dialect must have both container and {declared}, or neither")
    if "container" in value and (value.get("bundle") or value.get("entry")):
        raise UnusableDocument(
            f"the dialect must have container and {declared}, or moves under bundle and entry, not both"
        )
    if "split" in value and "parts" in value:
        raise UnusableDocument("the dialect must have split or parts, not both")
    for name in ("else_split", "members_but", "split_text"):
        if name in value and "split" not in value:
            raise UnusableDocument(f"the dialect has {name}, which goes with split: declare that too")
    places = [value.get("split", ""), *value.get("else_split", [])]
    for container in value.get("container", []):
        places += [container.get("rows", ""), *container.get("more_rows", [])]
    for place in places:
        if place.split("/").count("**") > 1:
            raise UnusableDocument(f"the dialect's pointer {place} has ** more than once")
    if declared == "comparison":
        _check_comparison(value)
    return value


def _check_comparison(dialect: dict[str, Any]) -> None:
    """Refuse what a dialect of comparisons cannot have."""
    if "comparison" not in dialect:
        raise UnusableDocument("a dialect of the kind comparison must have container and comparison")
    for name in ("key", "rubric"):
        if name in dialect:
            raise UnusableDocument(f"a dialect of the kind comparison has no {name}: leave it out")
    if len(dialect["comparison"].keys() & {"verdict", "winner", "scores"}) != 1:
        raise UnusableDocument("the dialect's /comparison must have exactly one of verdict, winner and scores")
    if "winner" in dialect["comparison"] and "b" not in dialect["comparison"]:
        raise UnusableDocument("the dialect's /comparison has winner, which is one of two names: declare b, too")


def _refuse_contradictions(stated: dict[str, Any], manifest: dict[str, Any], rubric: str) -> None:
    """Refuse --set where it contradicts the manifest or the active rubric."""
    for key, value in stated.items():
        if key == "factors":
            differing = [name for name in value if manifest.get(key, {}).get(name, value[name]) != value[name]]
            key = f"factors.{differing[0]}" if differing else key
        else:
            differing = [key] if to_builtin(manifest.get(key, value)) != to_builtin(value) else []
        if differing:
            raise UnusableDocument(f"--set {key} contradicts the manifest: leave one of them out")
    if stated.get("rubric", rubric) != rubric:
        raise UnusableDocument(
            f"--set rubric={stated['rubric']}, but {rubric} is active: give the right one with --rubric"
        )


_LINTED = {"rubric": "--rubric", "run_manifest": "--manifest", "dialect": "--dialect"}
"""Documents that `normalizer lint` looks at, and its options for them."""


def parse_document(kind: str, data: bytes) -> dict[str, Any]:
    """A document that its schema accepts, numbers as they are spelled."""
    try:
        value = lossless.parse(data, LIMITS["max_depth"])
    except spec.NotStrictJson as error:
        raise UnusableDocument(f"the {kind} is not strict JSON: {error}") from None
    for violation in spec.violations(f"eval/{kind}.json", to_builtin(value)):
        where = violation.pointer or "the document"
        option = _LINTED.get(kind)
        cure = f"; `normalizer lint {option} FILE` lists every mistake" if option else ""
        raise UnusableDocument(f"the {kind} does not fit its schema: {where} {violation.message}{cure}")
    checked: dict[str, Any] = value
    return checked
