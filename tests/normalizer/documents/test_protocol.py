"""The protocol version covers the schemas that decide what a record is, and no report."""

import contract_spec as spec
import pytest

from normalizer.documents import protocol

REPORTS = ("agreement", "audit_report", "check_report", "claims", "evidence_report", "sensitivity", "summary")


def test_reports_and_the_files_of_a_judge_run_are_not_part_of_it():
    for name in (*REPORTS, "judge_call", "judge_run"):
        assert f"eval/{name}.json" not in protocol.schemas()


def test_schemas_that_a_deciding_one_refers_to_are_part_of_it():
    assert "eval/run_metadata.json" in protocol.schemas()
    assert set(protocol.SCHEMAS) < set(protocol.schemas()) <= set(spec.names())


def changed(schema, monkeypatch, **members):
    """The version if that schema had other members."""
    original = spec.schema
    monkeypatch.setattr(spec, "schema", lambda name: original(name) | (members if name == schema else {}))
    protocol.version.cache_clear()
    try:
        return protocol.version()
    finally:
        monkeypatch.undo()
        protocol.version.cache_clear()


@pytest.mark.parametrize("name", protocol.schemas())
def test_it_changes_with_every_deciding_schema_but_not_with_its_description(monkeypatch, name):
    assert changed(name, monkeypatch, minProperties=77) != protocol.version()
    assert changed(name, monkeypatch, description="in other words", examples=[]) == protocol.version()


@pytest.mark.parametrize("name", REPORTS)
def test_a_changed_report_does_not_change_it(monkeypatch, name):
    assert changed(f"eval/{name}.json", monkeypatch, minProperties=77) == protocol.version()


def test_a_property_called_description_is_not_a_description():
    schema = {
        "description": "x",
        "properties": {"description": {"type": "string", "title": "x"}},
        "enum": [{"title": 1}],
    }
    assert protocol.remove_annotations(schema) == {
        "properties": {"description": {"type": "string"}},
        "enum": [{"title": 1}],
    }
