"""The schemas themselves: well formed, closed, described, with examples that hold, in keywords that models enforce."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import contract_spec as spec
import jsonschema
import pytest
from contract_spec.bundle import inlined, published
from contract_spec.operations import marked, operations, requests
from referencing import Registry, Resource

# What generated models enforce exactly as the schema says it; spec/README.md tells why the rest is kept out.
ALLOWED = {
    "$schema", "$id", "$ref", "$defs", "title", "description", "examples", "default",
    "type", "enum", "const", "oneOf",
    "properties", "required", "additionalProperties", "minProperties",
    "items", "minItems", "maxItems", "uniqueItems",
    "minLength", "maxLength", "pattern",
    "minimum", "maximum", "exclusiveMinimum",
    "x-zeno",
}  # fmt: skip

REGISTRY: Registry[Any] = Registry().with_resources(
    [(spec.BASE + name, Resource.from_contents(spec.schema(name))) for name in spec.names()]
)


def nodes(name: str) -> Iterator[tuple[str, Any]]:
    """Every schema node of a file with its pointer."""
    pending: list[tuple[str, Any]] = [("#", spec.schema(name))]
    while pending:
        pointer, node = pending.pop()
        yield pointer, node
        for keyword in ("properties", "$defs"):
            pending += [(f"{pointer}/{keyword}/{key}", value) for key, value in node.get(keyword, {}).items()]
        for keyword in ("oneOf", "prefixItems"):
            pending += [(f"{pointer}/{keyword}/{key}", value) for key, value in enumerate(node.get(keyword, []))]
        for keyword in ("items", "additionalProperties"):
            if isinstance(node.get(keyword), dict):
                pending.append((f"{pointer}/{keyword}", node[keyword]))


@pytest.mark.parametrize("name", spec.names())
def test_schema_is_valid_under_the_meta_schema(name):
    assert spec.schema(name)["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(spec.schema(name))


def test_ids_mirror_the_files_and_are_unique():
    assert [spec.schema(name)["$id"] for name in spec.names()] == [spec.BASE + name for name in spec.names()]


@pytest.mark.parametrize("name", spec.names())
def test_only_keywords_that_models_enforce_are_used(name):
    used = {(pointer, keyword) for pointer, node in nodes(name) for keyword in node if keyword not in ALLOWED}
    assert used == set()


@pytest.mark.parametrize("name", spec.names())
def test_every_object_says_whether_it_is_closed(name):
    silent = [
        pointer for pointer, node in nodes(name) if node.get("type") == "object" and "additionalProperties" not in node
    ]
    assert silent == []


@pytest.mark.parametrize("name", spec.names())
def test_every_property_and_every_titled_schema_is_described(name):
    bare = [
        f"{pointer}/properties/{key}"
        for pointer, node in nodes(name)
        for key, value in node.get("properties", {}).items()
        if not value.get("description")
    ]
    bare += [pointer for pointer, node in nodes(name) if "title" in node and not node.get("description")]
    assert bare == []


@pytest.mark.parametrize("name", spec.names())
def test_patterns_mean_the_same_in_every_engine(name):
    for pointer, node in nodes(name):
        if "pattern" in node:
            assert node["pattern"].startswith("^"), pointer
            assert node["pattern"].endswith(r"$(?!\n)"), pointer
            assert not re.search(r"\\[dwsbDWSB]", node["pattern"]), pointer


@pytest.mark.parametrize("name", spec.names())
def test_examples_are_embedded_and_hold(name):
    examples = spec.schema(name).get("examples", [])
    assert examples, "give at least one example"
    for example in examples:
        assert spec.violations(name, example) == []
        jsonschema.Draft202012Validator({"$ref": spec.BASE + name}, registry=REGISTRY).validate(example)


@pytest.mark.parametrize("name", spec.names())
def test_defaults_are_values_that_the_schema_accepts(name):
    for pointer, node in nodes(name):
        if "default" in node:
            assert spec.violations(name + pointer, node["default"]) == [], pointer


@pytest.mark.parametrize("name", [name for name in spec.names() if name.startswith("zeno/ops/")])
def test_an_op_file_holds_args_and_result_with_metrics(name):
    schema = spec.schema(name)
    assert schema["required"] == ["args", "result"]
    assert "metrics" in schema["$defs"]["result"]["required"]


def test_titles_become_class_names_so_no_two_are_alike_in_one_file():
    for name in spec.names():
        titles = [node["title"] for _, node in nodes(name) if "title" in node]
        assert len(titles) == len(set(titles)), name


def test_the_protocol_version_is_declared_once_and_readable():
    assert re.fullmatch(r"[0-9]+\.[0-9]+", spec.PROTOCOL_VERSION)


@pytest.mark.parametrize(
    "name", sorted(path.name for path in (files("contract_spec") / "rules" / "languages").iterdir())
)
def test_a_language_is_what_its_schema_says(name):
    assert spec.violations("zeno/language.json", spec.resource(f"rules/languages/{name}")) == []


@pytest.mark.parametrize(
    ("ref", "value", "demand"),
    [
        ("zeno/ops/verify.json#/$defs/args/properties/citations", [{}] * 5000, "must have at most 200 items"),
        ("zeno/ops/verify.json#/$defs/citation/properties/sha256", "f" * 5000, "must match ^[0-9a-f]{64}$(?!\\n)"),
    ],
)
def test_what_would_be_right_is_said_without_all_that_is_wrong(ref, value, demand):
    assert demand in [found.message for found in spec.violations(ref, value)]


def test_an_interrupt_while_a_schema_is_read_is_an_interrupt():
    done = subprocess.run([sys.executable, "-c", _INTERRUPTED], capture_output=True)
    assert (done.stdout, done.stderr) == (b"interrupted\n[]\n", b"")


_INTERRUPTED = """
import os, signal, sys
import contract_spec as spec

def watch(event, args):
    global reading
    if event == "open" and str(args[0]).endswith("error.json") and reading:
        reading = False
        os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
reading = True
sys.addaudithook(watch)
for _ in range(2):
    try:
        error = {"code": "not_found", "message": "nothing is there"}
        print(spec.violations("zeno/response.json", {"id": None, "ok": False, "error": error}))
    except KeyboardInterrupt:
        print("interrupted")
"""


@pytest.mark.parametrize(
    ("scale", "found"),
    [
        ({"kind": "integer", "minimum": 0, "maximum": 2},
         [("/kind", 'must be one of ["integers", "decimals", "range", "values", "labels"]')]),
        ({"minimum": 0, "maximum": 2}, [("/kind", "is missing")]),
        ({"kind": "integers", "min": 0, "maximum": 2}, [("/minimum", "is missing"), ("/min", "is not known here")]),
        ({"kind": "values", "values": [1, "b"]}, [("/values/1", "must be a number, not a string")]),
        ([0, 1, 2], [("", "must be an object, not an array")]),
    ],
)  # fmt: skip
def test_of_several_kinds_the_one_that_is_meant_is_asked_for(scale, found):
    rubric = {"name": "r", "dimensions": {"a/b": {"scale": scale}}}
    said = [(violation.pointer, violation.message) for violation in spec.violations("eval/rubric.json", rubric)]
    assert said == [(f"/dimensions/a~1b/scale{pointer}", message) for pointer, message in found]


@pytest.mark.parametrize("op", operations())
def test_what_an_operation_says_of_itself_has_the_form_and_names_what_exists(op):
    schema = spec.schema(f"zeno/ops/{op}.json")
    assert spec.violations("zeno/operation.json", schema["x-zeno"]) == []
    about = operations()[op]
    args, result = schema["$defs"]["args"]["properties"], schema["$defs"]["result"]["properties"]
    assert {*about.limits, *about.words} <= args.keys()
    assert about.list is None or result[about.list]["type"] == "array"
    assert about.metric is None or about.metric in spec.schema("zeno/metrics.json")["properties"]
    assert {name.partition("[]")[0] for name in about.tool["defaults"]} <= args.keys()


def test_marks_are_those_that_are_known_and_only_operations_have_them():
    for name in spec.names():
        for pointer, node in nodes(name):
            if "x-zeno" in node and pointer != "#":
                assert name.startswith("zeno/ops/"), (name, pointer)
                assert node["x-zeno"] in ([{"is": kind} for kind in ("path", "glob", "text", "operation", "rev")]), (
                    pointer
                )


def test_requests_about_a_file_are_valid_and_cover_every_operation_that_is_about_files():
    found = list(requests("d/a.py", "needle"))
    assert {op for op, _ in found} == {op for op in operations() if marked(op, "path", "glob", "text")} | {"verify"}
    for op, args in found:
        assert spec.violations(f"zeno/ops/{op}.json#/$defs/args", args) == []
        assert "needle" in str(args) or "d/a.py" in str(args)


def test_clients_are_told_schemas_without_marks_and_the_names_of_operations():
    for name in spec.names():
        assert '"x-zeno"' not in json.dumps(published(name))
    for whole in (published("zeno/ops/describe.json")["$defs"]["args"], inlined("zeno/ops/describe.json#/$defs/args")):
        assert whole["properties"]["op"]["enum"] == list(operations())
