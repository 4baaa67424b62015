"""The rules of the phases are data, complete and in agreement with the taxonomy; eligibility is not validity."""

from pathlib import Path

import contract_spec as spec
import pytest

from normalizer.documents import protocol

CODES = spec.schema("eval/reason.json")["$defs"]["code"]["enum"]


def test_the_rules_fit_their_schema_and_name_only_what_there_is():
    rules = protocol.rules()
    assert spec.violations("eval/phase_rules.json", rules) == []
    assert sorted(rules["phases"]) == ["0", "1", "2"]
    for rule in rules["phases"].values():
        assert set(rule["enforces"]) <= set(rules["constraints"])
    relaxable = [name for name, rule in rules["constraints"].items() if rule["relaxable"]]
    manifest = spec.schema("eval/run_manifest.json")["$defs"]["relaxation"]["properties"]["constraint"]
    assert manifest["enum"] == relaxable


def test_each_phase_enforces_all_that_the_one_before_does():
    assert protocol.list_enforced(0) < protocol.list_enforced(1) < protocol.list_enforced(2)


def test_only_phase_0_may_relax_and_only_phase_0_never_counts():
    assert [protocol.may_relax(phase) for phase in (0, 1, 2)] == [True, False, False]
    for phase in (0, 1, 2):
        lifted = protocol.list_enforced(phase) - protocol.list_enforced(phase, frozenset({"rubric_keys"}))
        assert lifted == ({"rubric_keys"} if phase == 0 else set())


def test_every_code_of_the_taxonomy_is_explained_once_and_in_its_order():
    rules = spec.resource("rules/reasons.json")
    assert list(rules) == CODES
    for rule in rules.values():
        assert set(rule) == {"blames", "clause", "sentence"}
        assert rule["blames"] in ("audit", "bundle", "listing", "entry")
        assert rule["sentence"].endswith(".")


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"phase": 0}, "diagnostic"),
        ({"phase": 0, "self_judged": True}, "diagnostic"),
        ({"phase": 1, "judge_model": "a", "generator_model": "b"}, "eligible"),
        ({"phase": 2, "judge_model": "a", "generator_model": "b", "self_judged": False}, "eligible"),
        ({"phase": 1, "judge_model": "a", "generator_model": "b", "self_judged": True}, "self_judged"),
        ({"phase": 1.0, "judge_model": "a", "generator_model": "a", "self_judged": True}, "self_judged"),
    ],
)
def test_eligibility_is_asked_of_valid_records_only_and_is_one_of_three(record, expected):
    assert protocol.eligibility(record) == expected


def test_what_a_judge_is_told_grows_with_the_phase_and_leaves_out_what_it_must_not_see():
    told = [protocol.statements(phase) for phase in (0, 1, 2)]
    assert told[0] == told[1]  # what phase 1 adds is about metadata, which no judge sees
    assert set(told[1]) < set(told[2])
    assert not any("manifest" in statement or "model" in statement for statement in told[2])


def test_the_protocol_version_covers_every_schema_and_rule_of_the_evaluation():
    folder = Path(spec.__file__).parent
    rubrics = {f"rules/rubrics/{path.name}" for path in (folder / "rules" / "rubrics").iterdir()}
    assert rubrics <= set(protocol.RULES)
    assert all((folder / name).is_file() for name in protocol.RULES)
