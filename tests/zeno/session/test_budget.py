"""Budgets: what a session may ask and be sent, told as it goes, and refused beyond."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeno.errors import BudgetExhausted
from zeno.session.budget import Budget

LIMIT = st.none() | st.integers(1, 20)


@given(ops=LIMIT, lines=LIMIT, size=LIMIT, costs=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30))
def test_never_more_is_spent_than_there_was(ops, lines, size, costs):
    budget = Budget(ops, lines, size)
    answered, sent = 0, [0, 0]
    for cost in costs:
        try:
            budget.begin()
            answered += 1
            budget.spend(*cost)
        except BudgetExhausted:
            continue
        sent = [spent + more for spent, more in zip(sent, cost, strict=True)]
    for limit, spent in zip((ops, lines, size), (answered, *sent), strict=True):
        assert limit is None or spent <= limit


def test_requests_are_counted_whether_or_not_they_succeed(root, pipe):
    server = pipe("--max-ops", "3")
    assert server.ask("stat", path=".")["result"]["metrics"]["budget"] == {"ops": 2}
    assert server.ask("read_file", path="gone")["error"]["code"] == "not_found"
    assert server.line(b"no request")["error"]["code"] == "invalid_json"
    assert server.ask("stat", path=".")["result"]["metrics"]["budget"] == {"ops": 0}
    for op in ("stat", "describe", "list_files", "no such op"):
        assert server.ask(op, path=".")["error"]["code"] == "budget_exhausted"


def test_lines_are_those_of_files_in_slices_hits_and_contexts(root, pipe):
    (root / "f").write_text("a\nb\na\nc\n")
    server = pipe("--max-lines", "20")
    asked: list[tuple[str, dict[str, Any]]] = [
        ("list_files", {}),
        ("read_file", {"path": "f", "end_line": 3}),
        ("peek", {"path": "f", "head_lines": 1, "tail_lines": 2}),
        ("grep", {"pattern": "a"}),
        ("grep", {"pattern": "a", "context": 1}),
    ]
    left = [server.ask(op, **args)["result"]["metrics"]["budget"]["lines"] for op, args in asked]
    assert left == [20, 17, 14, 12, 7]
    refused = server.ask("peek", path="f")
    assert refused["error"]["code"] == "budget_exhausted"
    assert "only 7 are left" in refused["error"]["message"]
    assert server.ask("read_file", path="f", end_line=4)["result"]["metrics"]["budget"]["lines"] == 3
    assert server.ask("read_file", path="f", end_line=3)["result"]["metrics"]["budget"]["lines"] == 0
    assert server.ask("list_files")["error"]["code"] == "budget_exhausted"


def test_bytes_are_those_of_results_without_metrics(root, pipe):
    (root / "f").write_text("x\n")
    server = pipe("--max-bytes", "1000")
    result = server.ask("read_file", path="f")["result"]
    left = result.pop("metrics")["budget"]["bytes"]
    assert 1000 - left == len(json.dumps(result, separators=(",", ":")))
    assert server.ask("describe")["error"]["code"] == "budget_exhausted"
    assert server.ask("read_file", path="f")["ok"]


def test_an_answer_that_is_too_long_to_be_sent_costs_nothing_but_its_request(root, pipe):
    (root / "f").write_text("x" * 1000 + "\ny\n")
    server = pipe("--max-bytes", "1500", "--max-lines", "5", "--max-ops", "9", "--max-response-bytes", "1100")
    assert server.ask("read_file", path="f")["error"]["code"] == "response_too_large"
    result = server.ask("read_file", path="f", start_line=2)["result"]
    budget = result.pop("metrics")["budget"]
    assert budget == {"ops": 7, "lines": 4, "bytes": 1500 - len(json.dumps(result, separators=(",", ":")))}


def test_without_a_budget_nothing_is_said_of_one(ask):
    assert "budget" not in ask("stat", path=".")["result"]["metrics"]


def test_an_answer_has_the_same_digest_with_and_without_a_budget(root, pipe, tmp_path):
    for name, flags in (("one", ()), ("two", ("--max-ops", "5"))):
        pipe("--log", str(tmp_path / name), *flags).ask("list_files")
    digests = [json.loads((tmp_path / name).read_text().splitlines()[2])["digest"] for name in ("one", "two")]
    assert digests[0] == digests[1]


@pytest.mark.parametrize("flag", ["--max-ops", "--max-lines", "--max-bytes"])
def test_a_budget_of_nothing_stops_the_server_at_its_start(pipe, flag):
    status, complaint = pipe(flag, "0").close()
    assert (status, flag.encode() in complaint) == (2, True)
