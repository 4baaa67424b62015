"""Lint: contradictions are found before a run is paid for, and what is fine is left alone."""

import json

import contract_spec as spec
import pytest

from normalizer.checks import lint as linting
from normalizer.cli import main

FILES = [{"file": "a", "generator_model": "g"}]
PHASE_1 = {"phase": 1, "judge_model": "j", "protocol_version": "p", "files": FILES}
SCHEMA = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
CLOSED = {"type": "object", "additionalProperties": False}
UPSIDE_DOWN = {"scale": {"kind": "range", "minimum": 2, "maximum": 1}}
OPEN = {
    "type": "object",
    "required": ["scores"],
    "properties": {"scores": {"type": "object"}, "run": {"type": "string"}},
}


def lint(tmp_path, capsys, kind, *documents):
    options = []
    for number, document in enumerate(documents):
        path = tmp_path / f"{number}.json"
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        options += [f"--{kind}", str(path)]
    status = main(["lint", *options])
    return status, capsys.readouterr().out


def test_what_is_built_in_has_no_contradiction(capsys):
    assert main(["lint"]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("kind", "document"),
    [
        ("manifest", PHASE_1),
        ("manifest", {"files": [{"file": "a"}]}),
        ("manifest", {**PHASE_1, "files": [{"file": "a", "generator_model": "j", "self_judged": True}]}),
        ("rubric", {"name": "r", "dimensions": {"x": {"scale": {"kind": "values", "values": [1]}}}}),
        ("dialect", {"name": "d", "entry": [{"take": "/a", "put": "/b"}]}),
        ("schema", {**SCHEMA, "oneOf": [{**OPEN, "additionalProperties": False, "required": ["scores", "run"]},
                                        {**CLOSED, "properties": {"scores": {}}}]}),
        ("schema", {**SCHEMA, "oneOf": [{"type": "string"}, {"type": "object"}, {"enum": [1]}, {"const": 2}]}),
        ("schema", {**SCHEMA, "oneOf": [{"type": "integer", "maximum": 3}, {"type": "integer", "minimum": 4}]}),
    ],
)  # fmt: skip
def test_what_is_fine_is_left_alone(kind, document, tmp_path, capsys):
    assert lint(tmp_path, capsys, kind, document) == (0, "")


@pytest.mark.parametrize(
    ("kind", "document", "said"),
    [
        ("manifest", "{", "not strict JSON"),
        ("manifest", {"files": []}, "/files"),
        ("manifest", {"files": [{"file": "a"}, {"file": "b"}, {"file": "a"}]}, '"a" is named twice'),
        ("manifest", {"files": [{"file": "a", "artifact": "x"}, {"file": "b", "artifact": "x"}]}, "named 2 times"),
        ("manifest", {**PHASE_1, "files": [{"file": "a"}]}, "/files/0/generator_model: phase 1 requires"),
        ("manifest", {"phase": 2, "files": FILES}, "/judge_model: phase 2 requires"),
        ("manifest", {"phase": 1, "judge_model": "j", "files": FILES}, "phase 1 requires protocol_version"),
        ("manifest", {**PHASE_1, "judge_model": "g"}, "must be labelled"),
        ("manifest", {**PHASE_1, "relaxations": [{"statement": "s"}]}, "has no relaxations"),
        ("manifest", {**PHASE_1, "rubric": "other"}, '"prompt-drift-v1" is active'),
        ("rubric", {"name": "r", "dimensions": {}}, "/dimensions"),
        ("rubric", {"name": "r", "dimensions": {"x": UPSIDE_DOWN}}, "above"),
        ("dialect", {"name": "d"}, "no step"),
        ("dialect", {"name": "d", "entry": [{"take": "/a", "put": "/c"}, {"take": "/b", "put": "/c"}]}, "the first"),
        ("schema", {**SCHEMA, "type": "objekt"}, "cannot be used"),
        ("schema", {**SCHEMA, "$ref": "nowhere.json"}, "cannot be used"),
        ("schema", {**SCHEMA, "properties": {"b": {"oneOf": [OPEN, {**OPEN, "required": ["scores", "run"]}]}}},
         "/properties/b/oneOf: branches 0 and 1 both accept"),
        ("schema", {**SCHEMA, "$defs": {"a": OPEN}, "oneOf": [{"$ref": "#/$defs/a"}, {"type": "object"}]}, "both"),
    ],
)  # fmt: skip
def test_a_contradiction_is_found(kind, document, said, tmp_path, capsys):
    status, out = lint(tmp_path, capsys, kind, document)
    assert status == 1
    assert said in out


@pytest.mark.parametrize("form", ["flag", "alone"])
@pytest.mark.parametrize(
    ("kind", "document"),
    [
        ("manifest", {"files": [{"file": "a"}, {"file": "a"}]}),
        ("rubric", {"name": "r", "dimensions": {"x": {"scale": {"kind": "integer"}}}}),
        ("dialect", {"name": "d", "entry": [{"tke": "/a"}]}),
        ("schema", {**SCHEMA, "oneOf": [OPEN, OPEN]}),
    ],
)
def test_a_document_alone_is_known_by_its_members(form, kind, document, tmp_path, capsys):
    path = tmp_path / "d.json"
    path.write_text(json.dumps(document))
    assert main(["lint", *([f"--{kind}"] if form == "flag" else []), str(path)]) == 1
    assert "d.json" in capsys.readouterr().out


def test_a_document_of_no_known_kind_or_a_second_of_one_is_refused_with_what_to_do(tmp_path, capsys):
    (tmp_path / "a.json").write_text('{"dimensions": {}}')
    (tmp_path / "b.json").write_text("{}")
    assert main(["lint", str(tmp_path / "b.json")]) == 2
    assert "--rubric, --manifest, --dialect or --schema" in capsys.readouterr().err
    assert main(["lint", str(tmp_path / "a.json"), str(tmp_path / "a.json")]) == 2
    assert "a second rubric: give one at a time" in capsys.readouterr().err


def test_clashing_ids_are_found_and_equal_documents_do_not_clash(tmp_path, capsys):
    one, other = {**SCHEMA, "$id": "https://a.example/x", "type": "object"}, {**SCHEMA, "$id": "https://a.example/x"}
    status, out = lint(tmp_path, capsys, "schema", one, other)
    assert status == 1
    assert "https://a.example/x is also the $id" in out
    assert lint(tmp_path, capsys, "schema", one, one) == (0, "")


def test_a_file_that_cannot_be_read_is_no_finding(tmp_path, capsys):
    assert main(["lint", "--rubric", str(tmp_path / "none.json")]) == 2
    assert "cannot read" in capsys.readouterr().err


def test_a_property_may_be_called_as_a_keyword_is(tmp_path, capsys):
    both = {"oneOf": [{"type": "integer"}, {"type": "number"}]}
    assert lint(tmp_path, capsys, "schema", {"properties": {"oneOf": {"type": "string"}}}) == (0, "")
    for name in ("examples", "const", "default", "enum"):
        status, out = lint(tmp_path, capsys, "schema", {"properties": {name: both}})
        assert (status, f"/properties/{name}/oneOf: branches 0 and 1" in out) == (1, True)


@pytest.mark.parametrize(
    ("inner", "clash"),
    [
        ({"b": {"$id": "https://a.example/x"}}, "/$defs/b/$id: https://a.example/x is also"),
        (
            {"b": {"$id": "y"}, "c": {"$id": "https://a.example/y", "type": "string"}},
            "/$defs/c/$id: https://a.example/y",
        ),
        ({"b": {"$id": "y/", "$defs": {"c": {"$id": "z"}}}, "d": {"$id": "y/z", "type": "null"}}, "/$defs/d/$id"),
        ({"b": {"$id": "y"}, "c": {"$id": "y"}}, None),
        ({"b": {"$id": "y/", "$defs": {"c": {"$id": "z"}}}, "d": {"$id": "z", "type": "null"}}, None),
        ({"b": {"properties": {"$id": {"type": "string"}}}, "c": {"const": {"$id": "x"}}}, None),
    ],
)
def test_ids_within_a_document_clash_too(tmp_path, capsys, inner, clash):
    status, out = lint(tmp_path, capsys, "schema", {"$id": "https://a.example/x", "$defs": inner})
    assert (status, out) == (0, "") if clash is None else (status == 1 and clash in out), out


@pytest.mark.parametrize("identity", [5, [], {}, None, True])
def test_an_id_that_is_no_string_is_told(tmp_path, capsys, identity):
    status, out = lint(tmp_path, capsys, "schema", {"$id": identity})
    assert (status, "/$id: an $id must be a string" in out) == (1, True)


def test_a_relative_id_is_an_id(tmp_path, capsys):
    assert lint(tmp_path, capsys, "schema", {"$id": "mine.json", "$ref": "#/$defs/a", "$defs": {"a": {}}}) == (0, "")
    status, out = lint(tmp_path, capsys, "schema", {"$id": "mine.json"}, {"$id": "mine.json", "type": "string"})
    assert (status, "/$id" in out) == (1, True)


def test_a_folder_without_schemas_is_not_said_to_be_fine(tmp_path, capsys):
    assert main(["lint", "--schema", str(tmp_path)]) == 2
    assert "no *.json file is below" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "value", "pointer", "says"),
    [
        (
            "rubric",
            {"name": "r", "dimensions": {"a": {"scale": {"kind": "integer"}}}},
            "/dimensions/a/scale/kind",
            "integers",
        ),
        (
            "rubric",
            {"name": "r", "dimensions": {"a": {"scale": {"kind": "integers", "min": 0, "minimum": 0, "maximum": 2}}}},
            "/dimensions/a/scale/min",
            "minimum",
        ),
        ("run_manifest", {"judge": "x", "files": [{"file": "a"}]}, "/judge", "judge_model"),
        ("run_manifest", {"files": [{"file": "a", "generator": "x"}]}, "/files/0/generator", "generator_model"),
        ("run_manifest", {"phase": 3, "files": [{"file": "a"}]}, "/phase", "not 3"),
        ("dialect", {"name": "d", "fields": {"fil": {"at": "/a"}}}, "/fields/fil", "file"),
    ],
)  # fmt: skip
def test_a_wrong_name_or_value_is_told_with_what_is_allowed(kind, value, pointer, says):
    _, found = linting.read_document("d.json", kind, json.dumps(value).encode())
    [message] = [finding.message for finding in found if finding.pointer == pointer]
    assert says in message


def test_a_dialect_whose_scores_are_not_those_of_its_rubric_is_found():
    rubric = {"name": "r", "dimensions": {"b": {"scale": {"kind": "integers", "minimum": 0, "maximum": 2}}}}
    fields = {"file": {"at": "/f"}, "scores": {"a": {"at": "/a"}}}
    value = {"name": "d", "container": [{"kind": "jsonl"}], "fields": fields, "rubric": rubric}
    document, flaws = linting.read_document("d.json", "dialect", json.dumps(value).encode())
    assert flaws == []
    assert [finding.pointer for finding in linting.dialect("d.json", document)] == [
        "/fields/scores/a",
        "/rubric/dimensions/b",
    ]


@pytest.mark.parametrize("example", spec.schema("eval/dialect.json")["examples"], ids=lambda example: example["name"])
def test_the_examples_of_the_schema_have_no_finding(example):
    value, flaws = linting.read_document("d.json", "dialect", json.dumps(example).encode())
    assert flaws == []
    assert linting.dialect("d.json", value) == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"fields": {"file": {"at": "/f", "pattern": "("}, "scores": {"s": {"at": "/s"}}}}, "no regular expression"),
        ({"fields": {"file": {"at": "/f", "pattern": "x"}, "scores": {"s": {"at": "/s"}}}}, "must have one group"),
        (
            {"fields": {"file": {"at": "/f"}, "scores": {"s": {"at": "/s", "failed_like": ["a**"]}}}},
            "regular expression",
        ),
        ({"split": "/a", "split_text": ","}, "a split that ends with"),
        ({"split_text": ","}, "goes with split"),
        ({"split": "/**/a/**/b"}, "more than once"),
    ],
)
def test_patterns_splits_and_trees_that_cannot_be_followed_are_found(changes, says):
    fields = {"file": {"at": "/f"}, "scores": {"s": {"at": "/s"}}}
    document = {"name": "d", "container": [{"kind": "jsonl"}], "fields": fields, **changes}
    [finding] = linting.dialect("d.json", document)
    assert says in finding.message
