"""describe: all that a client must know, from the server itself."""

import json

import contract_spec as spec
from contract_spec.bundle import published

from zeno.session.dispatch import OPS


def test_all_operations_are_told_with_schemas_that_need_nothing_else(ask):
    result = ask("describe")["result"]
    assert result["protocol"] == spec.PROTOCOL_VERSION
    assert [op["name"] for op in result["ops"]] == sorted(OPS)
    for op in result["ops"]:
        assert {"args", "result"} <= result["schemas"][op["schema_name"]]["$defs"].keys()
    assert all(result["schemas"][name] == published(name) for name in result["schemas"])
    assert {f"zeno/{name}.json" for name in ("request", "response", "error", "metrics")} <= result["schemas"].keys()
    assert all(name.startswith("zeno/") for name in result["schemas"])


def test_schemas_can_be_left_out(ask):
    assert "schemas" not in ask("describe", schemas=False)["result"]


def test_limits_and_flags_are_those_in_force(pipe, tmp_path):
    plain = pipe().ask("describe", schemas=False)["result"]
    assert plain["limits"] == {"max_request_bytes": 1 << 20, "max_response_bytes": 1 << 24}
    assert plain["flags"] == {"gitignore": False, "log": False}
    flags = ["--max-request-bytes", "4000", "--max-response-bytes", "5000", "--max-ops", "7", "--max-lines", "8"]
    server = pipe(*flags, "--max-bytes", "9000", "--gitignore", "--log", str(tmp_path / "log"))
    told = server.ask("describe", schemas=False)["result"]
    assert told["limits"] == {
        "max_request_bytes": 4000,
        "max_response_bytes": 5000,
        "max_ops": 7,
        "max_lines": 8,
        "max_bytes": 9000,
    }
    assert told["flags"] == {"gitignore": True, "log": True}


def test_one_operation_can_be_asked_about(ask):
    told = ask("describe", op="describe")["result"]["schemas"]["zeno/ops/describe.json"]
    assert told["properties"]["args"]["properties"]["op"]["enum"] == sorted(OPS)
    result = ask("describe", op="stat")["result"]
    assert [op["name"] for op in result["ops"]] == ["stat"]
    assert list(result["schemas"]) == ["zeno/ops/stat.json"]
    assert "$ref" not in json.dumps(result["schemas"])
    assert "schemas" not in ask("describe", op="stat", schemas=False)["result"]
    assert ask("describe", op="sing")["error"]["code"] == "invalid_args"
