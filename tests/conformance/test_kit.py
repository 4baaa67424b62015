"""The kit itself: its files are what their schemas say, and it tells right servers from wrong ones."""

import io
import json
import re
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import contract_spec as spec
import jsonschema
import pytest
import referencing

from tests.support.lacking import needs
from tests.support.patience import PATIENCE
from tools import conformance
from tools.kit.peer import Peer
from tools.kit.trees import plant, uproot
from tools.kit.vectors import HOME, Vector, corpus, differences, disagreements, read

ROOT = HOME.parents[1]
WRONG = shlex.join([sys.executable, str(HOME / "wrong_server.py")])
FILES = sorted((HOME / "zeno").glob("*.json"))
CORPORA = sorted((HOME / "corpora").glob("*.json"))
SCHEMAS = {name: json.loads((HOME / name).read_bytes()) for name in ("vector.schema.json", "corpus.schema.json")}
OPS = sorted(Path(name).stem for name in spec.names() if name.startswith("zeno/ops/"))
VECTORS = read()


def validator(name: str) -> jsonschema.Draft202012Validator:
    resources = [(schema["$id"], referencing.Resource.from_contents(schema)) for schema in SCHEMAS.values()]
    registry: Any = referencing.Registry().with_resources(resources)
    return jsonschema.Draft202012Validator(SCHEMAS[name], registry=registry)


# The files


@needs("git", "git")
def test_the_repository_of_the_kit_is_one_for_git(tmp_path: Path) -> None:
    site = plant(corpus("repository"), tmp_path)
    found = subprocess.run(["git", "fsck", "--full", "--strict"], cwd=site.root, capture_output=True, text=True)
    lines = found.stdout.splitlines()
    # One file is described as lost.
    assert (found.stderr, [line.split()[0] for line in lines]) == ("", ["broken", "to", "missing"])
    vectors = {vector.description: vector for vector in VECTORS if vector.corpus == "repository"}
    told = subprocess.run(
        ["git", "rev-parse", "v1", "v2"], cwd=site.root, capture_output=True, text=True
    ).stdout.split()
    known = {
        answer["result"]["rev"]
        for one in vectors.values()
        for answer in one.answers
        if "rev" in answer.get("result", ())
    }
    assert known == set(told)


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_schemas(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_describe_and_close_everything(name: str) -> None:
    free = {"json", "request", "args", "result"}

    def check(node: Any, where: str) -> None:
        if isinstance(node, dict):
            if isinstance(node.get("properties"), dict):
                assert node["additionalProperties"] is False, where
                for key, value in node["properties"].items():
                    assert "description" in value or "$ref" in value, f"{where}/{key}"
            elif node.get("type") == "object":
                assert where.rsplit("/", 1)[-1] in free, where
            for key, value in node.items():
                check(value, f"{where}/{key}")
        elif isinstance(node, list):
            for index, value in enumerate(node):
                check(value, f"{where}/{index}")

    check(SCHEMAS[name], name)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_vector_files_follow_their_schema(path: Path) -> None:
    assert [error.message for error in validator("vector.schema.json").iter_errors(json.loads(path.read_bytes()))] == []


@pytest.mark.parametrize("path", CORPORA, ids=lambda path: path.stem)
def test_corpora_follow_their_schema(path: Path) -> None:
    assert [error.message for error in validator("corpus.schema.json").iter_errors(json.loads(path.read_bytes()))] == []


@pytest.mark.parametrize(
    "broken",
    [
        {"kind": "trivial"},
        {"spec": "somewhere else"},
        {"error": "no_such_code"},
        {"error": "not_found", "result": {}},
        {"expected": {}},
        {"corpus": "../x"},
        {"metrics": {"time_ms": 1}},
    ],
    ids=str,
)
def test_a_broken_vector_is_refused_by_the_schema(broken: dict[str, Any]) -> None:
    good = next(each for each in json.loads((HOME / "zeno" / "stat.json").read_bytes())["vectors"] if "result" in each)
    validator("vector.schema.json").validate({"description": "x", "vectors": [good]})
    with pytest.raises(jsonschema.ValidationError):
        validator("vector.schema.json").validate({"description": "x", "vectors": [{**good, **broken}]})


def test_each_operation_has_a_file_and_each_file_an_operation() -> None:
    assert [path.stem for path in FILES] == sorted([*OPS, "wire"])


@pytest.mark.parametrize("op", OPS)
def test_requests_of_a_file_are_for_its_operation(op: str) -> None:
    given = json.loads((HOME / "zeno" / f"{op}.json").read_bytes())["vectors"]
    assert {vector["request"]["op"] for vector in given} == {op}


def test_there_are_many_vectors_and_most_are_refusals_and_edge_cases() -> None:
    kinds = Counter(vector.kind for vector in VECTORS)
    assert len(VECTORS) >= 200
    assert kinds["refusal"] + kinds["edge"] > len(VECTORS) / 2


def test_a_refusal_is_a_vector_with_an_error() -> None:
    for vector in VECTORS:
        assert (vector.kind == "refusal") == any("error" in answer for answer in vector.answers), vector.name


def test_descriptions_are_unique_and_state_facts() -> None:
    counted = Counter(vector.description for vector in VECTORS)
    assert [description for description, times in counted.items() if times > 1] == []
    assert [description for description in counted if "should" in description.lower()] == []
    assert [description for description in counted if description.endswith(".")] == []


def test_every_error_code_that_a_client_can_cause_has_a_vector() -> None:
    seen = {answer["error"] for vector in VECTORS for answer in vector.answers if "error" in answer}
    known = set(spec.schema("zeno/error.json")["properties"]["code"]["enum"])
    assert set(SCHEMAS["vector.schema.json"]["$defs"]["error"]["enum"]) == known
    # These take a full disk, a bug, a client that withdraws its request, or a file of many megabytes.
    apart = {"trace_failed", "internal", "cancelled", "file_too_large"}
    assert known - seen == apart


def test_only_the_message_of_an_unknown_operation_is_compared() -> None:
    for vector in VECTORS:
        for answer in vector.answers:
            assert ("message" in answer) == (answer.get("error") == "unknown_op"), vector.name


def test_vectors_on_byte_names_say_so() -> None:
    assert {vector.corpus == "bytes" for vector in VECTORS if "byte_names" not in vector.requires} == {False}


def test_every_corpus_is_used_and_every_corpus_that_is_used_is_there() -> None:
    assert {path.stem for path in CORPORA} == {vector.corpus for vector in VECTORS}


def test_a_vector_that_ends_the_input_has_one_step() -> None:
    assert {len(vector.steps) for vector in VECTORS if vector.input_ends} == {1}


def test_results_that_are_expected_follow_the_schemas_of_the_protocol() -> None:
    """With metrics put in and what is not compared filled up, an expected result is a valid result."""
    fill: dict[str, Any] = {"size": 0, "hints": ["x"], "ops": [], "schemas": {}, "model_defaults": {}}
    fill["files_digest"] = "0" * 64
    fill["confinement"] = {"files": False, "network": False}
    fill["request_limits"] = dict.fromkeys(
        spec.schema("zeno/ops/describe.json")["$defs"]["request_limits"]["required"], 1
    )
    fill.update(dict.fromkeys(("error", "path", "reason", "cursor"), "x"))
    for op in OPS:
        for given in json.loads((HOME / "zeno" / f"{op}.json").read_bytes())["vectors"]:
            if "result" not in given:
                continue
            result = {**given["result"], "metrics": {"time_ms": 0, "bytes_read": 0, "files_scanned": 0}}
            for pointer in given.get("not_compared", ()):
                _, *items, key = pointer.split("/")
                holder = result[items[0]][int(items[1])] if items else result
                holder[key] = fill[key]
            assert spec.violations(f"zeno/ops/{op}.json#/$defs/result", result) == [], given["description"]


@pytest.mark.parametrize("page", sorted({vector.spec.partition("#")[0] for vector in VECTORS}))
def test_every_spec_reference_leads_to_a_heading(page: str) -> None:
    headings = re.findall(r"^#+ (.+)$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    anchors = {re.sub(r"[^a-z0-9 _-]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert {vector.spec.partition("#")[2] for vector in VECTORS if vector.spec.startswith(page)} - anchors == set()


# Trees


@pytest.mark.parametrize("name", ["plain", "links", "special", "odd"])
def test_a_corpus_planted_twice_is_the_same_tree(name: str, tmp_path: Path) -> None:
    def picture(folder: Path) -> list[tuple[str, int, int, int]]:
        folder.mkdir()
        site = plant(corpus(name), folder)
        seen = [
            (path.relative_to(folder).as_posix(), path.lstat().st_mode, path.lstat().st_mtime_ns, path.lstat().st_nlink)
            for path in sorted(folder.rglob("*"))
            if not path.is_symlink()
        ]
        uproot(site)
        assert not folder.exists()
        return seen

    assert picture(tmp_path / "a") == picture(tmp_path / "b")


# Judging


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (1, True),
        (0, False),
        (1, "1"),
        (None, False),
        ({}, []),
        ({"a": 1}, {}),
        ({}, {"a": None}),
        ([1], [1, 1]),
        ([1, 2], [2, 1]),
    ],
    ids=str,
)
def test_values_of_different_kinds_differ(expected: Any, got: Any) -> None:
    assert list(differences(expected, got, "x"))
    assert list(differences(got, expected, "x"))


@pytest.mark.parametrize(("expected", "got"), [(1, 1.0), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ([], [])], ids=str)
def test_values_that_are_equal_as_json_agree(expected: Any, got: Any) -> None:
    assert list(differences(expected, got, "x")) == []


METRICS = '"metrics":{"time_ms":0,"bytes_read":0,"files_scanned":1}'
GOOD = f'{{"id":"lf-1","ok":true,"result":{{"files":["b"],"truncated":false,{METRICS}}}}}'


@pytest.fixture
def listing() -> Vector:
    first = next(vector for vector in VECTORS if vector.suite == "list_files")
    answer = {"id": "lf-1", "result": {"files": ["b"], "truncated": False}}
    return Vector("list_files", "x", first.spec, "plain", "plain", (), (), first.steps, (answer,), False)


def test_the_expected_answer_agrees(listing: Vector) -> None:
    assert disagreements(listing, [GOOD.encode()]) == []


@pytest.mark.parametrize(
    "line",
    [
        GOOD.replace("lf-1", "lf-2"),
        GOOD.replace('"lf-1"', "null"),
        GOOD.replace("true", "1"),
        GOOD.replace("false", "null"),
        GOOD.replace('["b"]', '["b","c"]'),
        GOOD.replace(METRICS, '"metrics":{}'),
        GOOD.replace(METRICS, '"metrics":null'),
        GOOD.replace(f",{METRICS}", ""),
        GOOD.replace('"truncated"', '"clipped":1,"truncated"'),
        GOOD.replace('"ok":true', '"ok":true,"ok":true'),
        GOOD + " x",
        GOOD.replace('["b"]', '["\\ud800"]'),
        GOOD.replace('["b"]', "[" * 100_000),
        GOOD.replace("0", "NaN", 1),
        '{"id":"lf-1","ok":false,"error":{"message":"no","code":"internal"}}',
        "[]",
        "",
    ],
)
def test_any_other_answer_differs(listing: Vector, line: str) -> None:
    assert disagreements(listing, [line.encode()])


def test_too_few_and_too_many_answers_differ(listing: Vector) -> None:
    assert disagreements(listing, []) == ["expected 1 answer lines, got 0"]
    assert disagreements(listing, [GOOD.encode()] * 2) == ["expected 1 answer lines, got 2"]


def test_an_error_is_matched_by_its_code_and_needs_a_message() -> None:
    refusal = next(vector for vector in VECTORS if vector.suite == "peek" and vector.kind == "refusal")
    answer = {"id": refusal.answers[0]["id"], "ok": False, "error": {"message": "any words", "code": "not_a_file"}}
    assert disagreements(refusal, [json.dumps(answer).encode()]) == []
    for error in (
        {"message": "", "code": "not_a_file"},
        {"code": "not_a_file"},
        {"message": "x", "code": "not_found"},
        "x",
    ):
        assert disagreements(refusal, [json.dumps({**answer, "error": error}).encode()])


# The command


def run(*argv: str) -> tuple[int, str]:
    """The command, with all the time in the world unless told otherwise."""
    out = io.StringIO()
    return conformance.main(["--time-limit", str(PATIENCE), *argv], out), out.getvalue()


def test_our_server_agrees() -> None:
    status, report = run("--filter", "peek: by default")
    assert status == 0
    assert report.splitlines()[-1].split() == ["all", "1", "0", "0"]


def test_a_wrong_server_is_reported() -> None:
    status, text = run("--server", f"{WRONG} {{root}} wrong", "--filter", "_file", "--format", "json")
    report = json.loads(text)
    assert status == 1
    verdicts = {vector["description"]: vector for vector in report["vectors"]}
    assert verdicts["paths sort by the code points of the whole relative path"]["verdict"] == "differ"
    assert verdicts["a carriage return alone ends no line"]["verdict"] == "differ"
    assert verdicts["a parent step above the root is outside the root"]["why"] != []
    assert verdicts["a parent step above the root is outside the root"]["sent"] == [
        '{"id": "rf-60", "op": "read_file", "args": {"path": "../secret.txt"}}'
    ]
    assert verdicts["an empty tree has no files"]["verdict"] == "agree"
    assert verdicts["a range includes both ends"]["why"] == ["result.metrics.lines_returned: expected 3, got null"]
    assert report["agree"] + report["differ"] + report["skipped"] == len(report["vectors"])


def test_the_table_counts_and_explains_what_differs() -> None:
    status, text = run("--server", f"{WRONG} {{root}} wrong", "--filter", "list_files: paths sort")
    assert status == 1
    assert "differs: list_files: paths sort by the code points" in text
    assert "docs/reference/protocol.md#order" in text
    assert text.splitlines()[-1].split() == ["all", "0", "1", "0"]


def test_a_server_that_hangs_is_reported_and_not_waited_for() -> None:
    status, text = run(
        "--server",
        f"{WRONG} {{root}} hang",
        "--time-limit",
        "0.3",
        "--filter",
        "read_file: max_lines",
        "--format",
        "json",
    )
    assert status == 1
    assert {why for vector in json.loads(text)["vectors"] for why in vector["why"]} == {
        "no answer within 0.3 seconds (after 0 answers)"
    }


def test_a_server_that_dies_is_reported_with_its_last_words() -> None:
    status, text = run("--server", f"{WRONG} {{root}} die", "--filter", "read_file: a range includes")
    assert status == 1
    assert "the server ended (after 0 answers); its last words: out of patience" in text


def test_lines_that_nobody_asked_for_are_reported() -> None:
    status, text = run("--server", f"{WRONG} {{root}} chatty", "--filter", "list_files: an empty tree")
    assert status == 1
    assert "answer lines, got" in text


@pytest.mark.parametrize(
    ("argv", "named"),
    [
        (["--server", "/no/such/server {root}"], "/no/such/server"),
        (["--server", "server --root '{root}"], "No closing quotation"),
        (["--server", shlex.join([sys.executable, "-c", "raise SystemExit('not today')"])], "not today"),
        (["--filter", "no vector is called this"], "no vector is called this"),
    ],
    ids=["no command", "half a command", "no server", "no vector"],
)
def test_what_cannot_run_ends_with_2_and_one_line(
    argv: list[str], named: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(*argv) == (2, "")
    (line,) = capfd.readouterr().err.splitlines()
    assert named in line


def test_the_kit_runs_without_the_server_or_any_library() -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import tools.conformance; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert "tools" in loaded
    assert loaded <= {"tools", "__main__", *sys.stdlib_module_names}


def test_the_server_is_held_to_permissions_even_when_root_runs_the_kit(tmp_path: Path) -> None:
    from tools.kit.peer import permissions_hold

    if not permissions_hold():
        pytest.skip("permissions do not hold for this user")
    locked = [vector for vector in VECTORS if "permissions" in vector.requires]
    verdicts = list(conformance.run(locked, f"{shlex.quote(sys.executable)} -m zeno serve --root {{root}}", 60))
    assert {verdict.verdict for verdict in verdicts} == {"agree"}


def test_closing_a_server_that_ignores_the_end_of_input_ends_it(tmp_path: Path) -> None:
    site = plant(corpus("empty"), tmp_path)
    peer = Peer(shlex.join([sys.executable, "-c", "import time; time.sleep(600)"]), site, 0.2)
    peer.close()
    assert peer._process.returncode is not None


def test_vectors_with_flags_are_skipped_and_told_where_the_command_takes_none() -> None:
    server = f"{shlex.quote(sys.executable)} -m zeno serve --root {{root}}"
    chosen = ["--filter", "peek at a denied file"]
    status, text = run("--server", server, *chosen)
    assert status == 0
    assert text.splitlines()[-2].split() == ["all", "0", "0", "1"]
    assert text.splitlines()[-1] == "skipped: the server's command has no {flags} for flags such as --deny"
    status, text = run("--server", f"{server} {{flags}}", *chosen)
    assert (status, text.splitlines()[-1].split()) == (0, ["all", "1", "0", "0"])


def test_every_addition_of_a_result_and_every_argument_stands_in_a_vector() -> None:
    sent, told = set(), set()
    for path in FILES:
        for vector in json.loads(path.read_bytes())["vectors"]:
            if "request" in vector:
                op = vector["request"]["op"]
                sent |= {(op, name) for name in vector["request"]["args"]}
                told |= {(op, name) for name in vector.get("result", {})}
                told |= {(op, pointer[1:]) for pointer in vector.get("not_compared", ()) if pointer.count("/") == 1}
    for op in OPS:
        parts = spec.schema(f"zeno/ops/{op}.json")["$defs"]
        assert {(op, name) for name in parts["args"]["properties"]} - sent == set()
        # A vector has one tree, which is no repository, so that no server of it has roots with names or commits.
        untold = {"metrics", "rev"} | ({"roots", "revs"} if op == "describe" else set())
        assert {(op, name) for name in parts["result"]["properties"] if name not in untold} - told == set()
