"""Comparisons: nothing is lost, each entry gives one record, and a verdict is turned back exactly once."""

import json
from pathlib import Path
from typing import Any

import contract_spec as spec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normalizer.cli import main
from normalizer.documents.lossless import Number, dumps, parse, to_builtin
from normalizer.documents.settings import load
from normalizer.screening.pipeline import normalize
from normalizer.screening.raw_rows import rebuild
from tests.support.bundles import VALUES, spaced

NUMBERS = st.sampled_from(["1", "2", "1.5", "1.0", "1e0", "3", "1.2500000000000000000000000000001", "0"]).map(Number)
VERDICTS = st.one_of(
    st.sampled_from(["a", "b", "draw", "both_bad", None, "c"]),
    NUMBERS,
    st.fixed_dictionaries({"a": NUMBERS, "b": NUMBERS}),
)
NAMES = st.sampled_from(["x", "y", "z"])
ENTRIES = st.one_of(
    st.fixed_dictionaries(
        {"verdict": VERDICTS, "a": NAMES, "item": st.sampled_from(["q1", "q2"])},
        optional={
            "b": NAMES,
            "order": st.sampled_from(["ab", "ba", "unknown", "AB"]),
            "verdict_about": st.sampled_from(["answers", "positions"]),
            "repeat": st.sampled_from(["0", "1", "0.0", "2"]).map(Number),
            "judge": NAMES,
            "own_output": st.booleans(),
            "levels": st.dictionaries(st.sampled_from(["t", "u"]), VALUES, max_size=2),
            "kind": VALUES,
            "length": VALUES,
        },
    ),
    VALUES,
)


@st.composite
def bundles(draw: st.DrawFn) -> dict[str, Any]:
    members = draw(
        st.dictionaries(
            st.sampled_from(["baseline", "judge_model", "phase", "factors", "verdict_about", "notes", "surplus"]),
            st.one_of(VALUES, NAMES, st.sampled_from("012").map(Number)),
            max_size=4,
        )
    )
    listed = list(members.items())
    at = draw(st.integers(0, len(listed)))
    listed.insert(at, ("per_comparison", draw(st.lists(ENTRIES, min_size=1, max_size=5))))
    return dict(listed)


@given(document=bundles(), gap=st.sampled_from(["", " ", "\n"]))
def test_the_document_is_rebuilt_from_its_records_and_each_line_fits_its_schema(document, gap):
    outcome = normalize(spaced(document, gap).encode(), load())
    records = [parse(line, 300) for line in outcome.records.encode().splitlines()]
    invalid = [parse(line, 300) for line in outcome.invalid.encode().splitlines()]
    assert len(records) + len(invalid) == len(document["per_comparison"])
    header = parse(outcome.header.encode(), 300)
    assert dumps(rebuild(header, records + invalid)) == dumps(document)
    for kind, lines in (("comparison_record", records), ("invalid_comparison", invalid), ("bundle_header", [header])):
        for line in lines:
            assert spec.violations(f"eval/{kind}.json", to_builtin(line)) == []


@given(verdict=VERDICTS, order=st.sampled_from(["ab", "ba"]), about=st.sampled_from(["answers", "positions"]))
def test_naming_the_answers_the_other_way_round_gives_the_mirrored_outcome(verdict, order, about):
    swapped = {"ab": "ba", "ba": "ab"}[order]
    mirrored = verdict if about == "positions" else _mirrored(verdict)
    one = _outcome({"item": "q", "a": "x", "b": "y", "verdict": verdict, "order": order, "verdict_about": about})
    other = _outcome({"item": "q", "a": "y", "b": "x", "verdict": mirrored, "order": swapped, "verdict_about": about})
    if one is None or other is None:
        assert one is other
        return
    other_side = {"a": "b", "b": "a"}
    assert other_side.get(one["winner"], one["winner"]) == other["winner"]
    assert other_side[one["shown_first"]] == other["shown_first"]
    if "share" in one:
        assert one["share"] + other["share"] == pytest.approx(1)


def test_a_verdict_is_turned_back_once_and_only_where_it_is_about_positions_in_swapped_order():
    told = {
        (order, about): _outcome(
            {"item": "q", "a": "x", "b": "y", "verdict": "a", "order": order, "verdict_about": about}
        )
        for order in ("ab", "ba")
        for about in ("answers", "positions")
    }
    assert {key: (found["winner"], found["turned"]) for key, found in told.items()} == {
        ("ab", "answers"): ("a", False),
        ("ab", "positions"): ("a", False),
        ("ba", "answers"): ("a", False),
        ("ba", "positions"): ("b", True),
    }


def test_scores_and_comparisons_are_refused_in_one_ledger_and_nothing_changes(tmp_path, capsys):
    scores, compared, ledger = tmp_path / "scores.json", tmp_path / "compared.json", tmp_path / "ledger"
    scores.write_text('{"per_file_scores": [{"file": "a", "scores": {"A_structure": 1}}]}')
    compared.write_text('{"per_comparison": [{"item": "q", "a": "x", "b": "y", "verdict": "a"}]}')
    assert main(["normalize", str(compared), "--out", str(ledger)]) == 0
    before = {path: path.read_bytes() for path in ledger.rglob("*") if path.is_file()}
    assert main(["normalize", str(scores), "--out", str(ledger)]) == 2
    assert "never mixed" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in ledger.rglob("*") if path.is_file()} == before
    assert main(["aggregate", str(ledger)]) == 2
    assert "normalizer preferences" in capsys.readouterr().err


def test_restore_and_explain_work_on_comparisons(tmp_path, capsysbinary):
    raw = b'{"per_comparison": [{"verdict": 1.50, "item": "q", "a": "x", "b": "y", "order": "ba"}], "phase": 1.0}'
    (tmp_path / "b.json").write_bytes(raw)
    ledger = tmp_path / "ledger"
    main(["normalize", str(tmp_path / "b.json"), "--out", str(ledger)])
    [sha256] = [path.stem for path in Path(ledger / "bundles").glob("*/*")]
    capsysbinary.readouterr()
    assert main(["restore", str(ledger), sha256]) == 0
    assert capsysbinary.readouterr().out == raw
    assert main(["restore", str(ledger), sha256, "--from-records"]) == 0
    assert capsysbinary.readouterr().out == dumps(parse(raw, 9)).encode() + b"\n"
    record = json.loads((ledger / "invalid.jsonl").read_text())
    assert main(["explain", str(ledger), record["record_id"]]) == 0
    assert b"judge_model_missing" in capsysbinary.readouterr().out


def _mirrored(verdict: Any) -> Any:
    if isinstance(verdict, Number):
        from decimal import Decimal

        return Number(format(Decimal(3) - Decimal(verdict), "f")) if 1 <= Decimal(verdict) <= 2 else verdict
    if isinstance(verdict, dict):
        return {"a": verdict["b"], "b": verdict["a"]}
    return {"a": "b", "b": "a"}.get(verdict, verdict)


def _outcome(entry: dict[str, Any]) -> Any:
    done = normalize(dumps({"per_comparison": [entry]}).encode(), load())
    return json.loads(done.records)["outcome"] if done.records else None
