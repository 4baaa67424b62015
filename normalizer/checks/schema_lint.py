"""Find contradictions in JSON Schemas: clashing `$id`s, dangling references, `oneOf` branches that overlap.

Overlaps are found by trial: documents that may fit two branches are made and validated. Each finding comes with a
document that proves it; without a proof nothing is reported.
"""

import json
from collections.abc import Iterator
from itertools import combinations, islice
from typing import Any
from urllib.parse import urljoin

import contract_spec as spec
import jsonschema_rs

from normalizer.checks.lint import LintFinding
from normalizer.documents.pointers import escape

_TRIALS = 200
_DEPTH = 6
_HOME = "https://lint.example/"
"""The base of relative `$id`s."""
_NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
"""Keywords whose member names are free."""


def lint(given: dict[str, Any]) -> list[LintFinding]:
    """Return findings about schemas, by their names. References to the built-in schemas are resolved."""
    found: list[LintFinding] = []
    documents: dict[str, Any] = {spec.BASE + name: spec.schema(name) for name in spec.names()}
    owners = dict.fromkeys(documents, "the built-in schemas")
    for name, document in given.items():
        if not isinstance(document, dict):
            found.append(LintFinding(name, "", "a schema must be an object"))
            continue
        if not isinstance(document.get("$id", ""), str):
            found.append(LintFinding(name, "/$id", "an $id must be a string"))
            continue
        identity = document["$id"] = urljoin(_HOME, document.get("$id", _HOME + name))
        if identity in documents and documents[identity] != document:
            found.append(LintFinding(name, "/$id", f"{identity} is also the $id of a schema of {owners[identity]}"))
            continue
        documents[identity] = document
        owners[identity] = name
    names = given or {name: spec.schema(name) for name in spec.names() if name.startswith("eval/")}
    for name, document in names.items():
        if isinstance(document, dict) and isinstance(document.get("$id", ""), str):
            found += _Schema(name, document, documents).findings()
    return found


class _Schema:
    def __init__(self, name: str, document: dict[str, Any], documents: dict[str, Any]) -> None:
        self._name, self._document, self._documents = name, document, documents
        self._base = document.get("$id", spec.BASE + name)

    def findings(self) -> list[LintFinding]:
        try:
            self._validator("")
        except (jsonschema_rs.ReferencingError, jsonschema_rs.ValidationError, ValueError) as error:
            return [LintFinding(self._name, "", f"it cannot be used as a schema: {str(error).splitlines()[0]}")]
        found = list(self._find_embedded())
        for at, node in _nodes(self._document, ""):
            found += self._pairs(at, node) if "oneOf" in node else ()
        return found

    def _find_embedded(self) -> Iterator[LintFinding]:
        """Yield the embedded schemas of a document that have their own `$id`, relative to the one around them."""
        bases = {"": self._base}
        known = {**self._documents, self._base: self._document}
        for at, node in _nodes(self._document, ""):
            if at and isinstance(node.get("$id"), str):
                around = max((place for place in bases if at.startswith(f"{place}/")), key=len)
                identity = bases[at] = urljoin(bases[around], node["$id"])
                if known.setdefault(identity, node) != node:
                    yield LintFinding(self._name, f"{at}/$id", f"{identity} is also the $id of another schema")

    def _pairs(self, at: str, node: dict[str, Any]) -> Iterator[LintFinding]:
        branches = [self._validator(f"{at}/oneOf/{index}") for index in range(len(node["oneOf"]))]
        for one, other in combinations(range(len(branches)), 2):
            both = {"allOf": [node["oneOf"][one], node["oneOf"][other]]}
            for trial in islice(self._trials(both), _TRIALS):
                if branches[one].is_valid(trial) and branches[other].is_valid(trial):
                    message = (
                        f"branches {one} and {other} both accept {_short(trial)}, which oneOf therefore refuses: "
                        "give them a constant that differs"
                    )
                    yield LintFinding(self._name, f"{at}/oneOf", message)
                    break

    def _validator(self, pointer: str) -> jsonschema_rs.Validator:
        return jsonschema_rs.Draft202012Validator({"$ref": f"{self._base}#{pointer}"}, retriever=self._retrieve)

    def _retrieve(self, uri: str) -> Any:
        return self._documents[uri.partition("#")[0]]

    def _trials(self, schema: Any) -> Iterator[Any]:
        """Yield documents that may fit a schema: the examples of its parts, and some made from its keywords."""
        flat = self._flat(schema, _DEPTH)
        for part in flat:
            yield from part.get("examples", [])
        yield from self._make_parts(flat, _DEPTH)

    def _flat(self, schema: Any, depth: int) -> list[dict[str, Any]]:
        """Return a schema as a list of parts that all apply, with references resolved."""
        if not isinstance(schema, dict) or depth == 0:
            return []
        parts = [schema]
        if "$ref" in schema:
            parts += self._flat(self._resolve(schema["$ref"]), depth - 1)
        for inner in schema.get("allOf", []):
            parts += self._flat(inner, depth - 1)
        return parts

    def _resolve(self, ref: str) -> Any:
        document, _, fragment = ref.partition("#")
        node = self._document if not document else self._documents.get(self._base.rsplit("/", 1)[0] + "/" + document)
        for step in fragment.split("/")[1:]:
            node = node.get(step.replace("~1", "/").replace("~0", "~"), {}) if isinstance(node, dict) else {}
        return node

    def _make_parts(self, parts: list[dict[str, Any]], depth: int) -> Iterator[Any]:
        if depth == 0:
            return
        for part in parts:
            if "const" in part:
                yield part["const"]
                return
            if "enum" in part:
                yield from part["enum"]
                return
        kinds = [part["type"] for part in parts if "type" in part]
        wanted = kinds[0] if kinds else ["object", "string", "integer", "array", "boolean", "null"]
        for kind in [wanted] if isinstance(wanted, str) else wanted:
            yield from self._of_type(kind, parts, depth)

    def _of_type(self, kind: str, parts: list[dict[str, Any]], depth: int) -> Iterator[Any]:
        match kind:
            case "object":
                yield from self._objects(parts, depth)
            case "string":
                length = max((part.get("minLength", 0) for part in parts), default=0)
                yield from ("a" * max(length, 1), "0" * 64)
            case "integer" | "number":
                yield from [part[end] for part in parts for end in ("minimum", "maximum") if end in part]
                yield from (0, 1)
            case "array":
                items = [part["items"] for part in parts if "items" in part]
                least = max((part.get("minItems", 0) for part in parts), default=0)
                inner = self._make_parts([flat for item in items for flat in self._flat(item, depth - 1)], depth - 1)
                for one in islice(inner, 3):
                    yield [one] * max(least, 1)
                yield []
            case "boolean":
                yield from (True, False)
            case "null":
                yield None

    def _objects(self, parts: list[dict[str, Any]], depth: int) -> Iterator[dict[str, Any]]:
        """Yield the smallest object with all required members, the fullest, and some in between."""
        properties: dict[str, list[Any]] = {}
        for part in parts:
            for key, inner in part.get("properties", {}).items():
                properties.setdefault(key, []).append(inner)
        required = {key for part in parts for key in part.get("required", [])}
        values = {
            key: list(
                islice(self._make_parts([f for inner in schemas for f in self._flat(inner, depth - 1)], depth - 1), 3)
            )
            for key, schemas in properties.items()
        }
        for keys in (required, properties.keys() | required):
            for turn in range(3):
                made = {
                    key: options[turn % len(options)] for key in sorted(keys) if (options := values.get(key, ["a"]))
                }
                yield made


def _nodes(node: Any, at: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield all subschemas of a schema with their pointers."""
    if isinstance(node, dict):
        yield at, node
        for key, inner in node.items():
            if key in _NAMED and isinstance(inner, dict):
                for name, named in inner.items():
                    yield from _nodes(named, f"{at}/{escape(key)}/{escape(name)}")
            elif key not in ("examples", "const", "enum", "default"):
                yield from _nodes(inner, f"{at}/{escape(key)}")
    elif isinstance(node, list):
        for index, inner in enumerate(node):
            yield from _nodes(inner, f"{at}/{index}")


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 120 else text[:120] + "..."
