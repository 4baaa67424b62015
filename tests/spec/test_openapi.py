"""The OpenAPI document and the bundled schemas say what the schemas say, and nothing points outside."""

import json
from pathlib import Path
from typing import Any

import contract_spec as spec
import jsonschema
import pytest
from contract_spec.bundle import inlined

from tools import openapi
from zeno.session.dispatch import OPS

ROOT = Path(__file__).resolve().parent.parent.parent
PARTS = [f"zeno/ops/{op}.json#/$defs/{part}" for op in sorted(OPS) for part in ("args", "result")]


def references(node: Any) -> list[str]:
    if isinstance(node, dict):
        own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
        return own + [found for value in node.values() for found in references(value)]
    return [found for item in node for found in references(item)] if isinstance(node, list) else []


def test_the_document_is_what_the_spec_makes_and_drift_is_seen(tmp_path, monkeypatch, capsys) -> None:
    assert openapi.main(["--check"]) == 0
    edited = tmp_path / "openapi.json"
    edited.write_text((ROOT / "spec" / "openapi.json").read_text().replace("Zeno", "Xeno", 1))
    monkeypatch.setattr(openapi, "OUT", edited)
    assert openapi.main(["--check"]) == 1
    assert "nox -s generate" in capsys.readouterr().out
    assert openapi.main([]) == 0
    assert openapi.main(["--check"]) == 0


def test_every_reference_of_the_document_leads_somewhere_in_it() -> None:
    document = spec.resource("openapi.json")
    found = set(references(document))
    assert found
    for reference in found:
        node = document
        for step in reference.removeprefix("#/").split("/"):
            node = node[step]


def test_every_operation_and_every_error_code_is_in_the_document() -> None:
    document = spec.resource("openapi.json")
    assert {path for path in document["paths"] if "/ops/" in path} == {f"/v1/ops/{op}" for op in OPS}
    told = json.dumps(document["components"]["responses"])
    assert all(code in told for code in spec.schema("zeno/error.json")["properties"]["code"]["enum"])


@pytest.mark.parametrize("ref", PARTS)
def test_an_inlined_schema_refers_to_nothing_and_judges_the_same(ref: str) -> None:
    schema = inlined(ref)
    assert schema["type"] == "object"
    assert references(schema) == []
    validator = jsonschema.Draft202012Validator(schema)
    op, part = ref.split("/")[2].removesuffix(".json#"), ref.rpartition("/")[2]
    examples = [example[part] for example in spec.schema(f"zeno/ops/{op}.json")["examples"]]
    for value in [*examples, {}, {"unknown": 1}, {"path": 5}, {"metrics": {}}, []]:
        assert validator.is_valid(value) == (not spec.violations(ref, value))
