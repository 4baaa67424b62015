"""INVALID records are counted as that, whatever they say of themselves."""

import json

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normalizer.aggregate.eligibility import SELF
from normalizer.cli import main
from normalizer.documents import protocol
from tests.support.bundles import bundle, entry


@pytest.mark.parametrize("rubric", ["another", 5, None, ["prompt-drift-v1"]])
def test_a_run_that_names_another_rubric_is_left_out_as_invalid_and_in_the_rates(tmp_path, capsys, rubric):
    (tmp_path / "right.json").write_text(json.dumps(bundle(entry("a"))))
    (tmp_path / "wrong.json").write_text(json.dumps(bundle(entry("a"), entry("b"), rubric=rubric)))
    ledger = str(tmp_path / "l")
    assert main(["normalize", str(tmp_path), "--out", ledger]) == 1
    capsys.readouterr()
    for where in ([], ["--where", "rubric=prompt-drift-v1"]):
        assert main(["aggregate", ledger, "--format", "json", *where]) == 0
        left_out = json.loads(capsys.readouterr().out)["left_out"]
        assert (left_out["invalid"], left_out["not_selected"]) == (2, 0)
    assert main(["aggregate", "--sensitivity", ledger, "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)["sensitivity"]
    [rate] = report["invalid_rates"]["judge_model"]
    assert (rate["records"], rate["invalid"]) == (3, 2)


_MODELS = st.sampled_from(["a", "b", "A", "a ", ""]) | st.none()


@given(st.booleans() | st.none(), _MODELS, _MODELS)
def test_the_sql_of_self_judging_says_what_the_rule_says(label, judge, generator):
    given = {"self_judged": label, "judge_model": judge, "generator_model": generator}
    record = {key: value for key, value in given.items() if value is not None}
    columns = [None if label is None else json.dumps(label), judge, generator]
    query = f"SELECT {SELF} FROM (SELECT $1::VARCHAR self_judged, $2::VARCHAR judge_model, $3::VARCHAR generator_model)"
    [[found]] = duckdb.execute(query, columns).fetchall()
    assert bool(found) == protocol.is_self_judged(record)
