"""Tables: exact against a model in fractions, and only of what the protocol lets count."""

import csv
import io
import json
import math
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import contract_spec as spec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normalizer.aggregate.summary import Options, aggregate
from normalizer.cli import main
from normalizer.errors import UnusableLedger
from normalizer.ledger.open_ledgers import files_without_entry
from normalizer.ledger.reader import reading
from tests.support.bundles import DIMENSIONS, bundle, entry
from tests.support.studies import Verdict, bundles_of, ledger_of, model, output, refusal

VERDICTS = st.builds(
    Verdict,
    judge=st.sampled_from(["j1", "j2", "g1"]),
    generator=st.sampled_from(["g1", "g2"]),
    artifact=st.sampled_from(["a", "b", "c", "d"]),
    scores=st.tuples(*[st.integers(0, 2)] * 5),
    phase=st.sampled_from([1, 1, 1, 0]),
    protocol=st.just("p-1"),
    run=st.sampled_from(["r-1", "r-2"]),
).map(lambda verdict: verdict._replace(question="q1" if verdict.artifact in "ab" else "q2"))
STUDIES = st.lists(
    VERDICTS,
    min_size=1,
    max_size=30,
    unique_by=lambda v: (v.judge, v.generator, v.artifact, v.phase, v.question, v.run),
)
LEVELS = {"judge_model": "judge", "generator_model": "generator", "factors.question": "question", "run_id": "run"}
NUMBERS = ("mean", "sd", "min", "max")


def close(value, exact):
    return (value is None and exact is None) or abs(Fraction(value) - exact) <= Fraction(1, 2 * 10**6)


@settings(max_examples=30)
@given(
    STUDIES,
    st.lists(st.sampled_from(sorted(LEVELS)), unique=True, max_size=2),
    st.sampled_from(["artifact", "record"]),
)
def test_rows_are_those_of_a_model_in_fractions(study, by, unit):
    with TemporaryDirectory() as scratch:
        ledger = ledger_of(Path(scratch), bundles_of(study))
        summary = aggregate((ledger,), Options(by=tuple(by), unit=unit))
    groups = defaultdict(list)
    for verdict in study:
        if verdict.phase == 1:
            groups[tuple(getattr(verdict, LEVELS[key]) for key in by)].append(verdict)
    rows = {tuple(row["key"].values()): row for row in summary["rows"]}
    assert list(rows) == sorted(rows)
    for key, row in rows.items():
        expected = model(groups[key], unit) if groups[key] else model([], unit)
        assert (row["n"], row["n_records"]) == (expected.n, expected.n_records)
        assert row["n_items"] == (len({verdict.artifact for verdict in groups[key]}) if row["n"] else 0)
        assert close(row["total"]["mean"], expected.mean)
        assert close(row["total"]["min"], expected.low)
        assert close(row["total"]["max"], expected.high)
        if expected.variance is None:
            assert row["total"]["sd"] is None
        else:
            assert math.isclose(row["total"]["sd"], math.sqrt(expected.variance), abs_tol=6e-7)
    assert set(groups) <= set(rows)
    left = summary["left_out"]
    assert sum(row["n_records"] for row in rows.values()) + left["diagnostic"] + left["self_judged"] == len(study)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Two judges on two generators, one of which judges too; phase 0 and INVALID records besides."""
    verdicts = [
        Verdict(judge, generator, f"{generator}-{number}", (number % 3, 1, 2, (number * place) % 3, place % 2))
        for place, judge in enumerate(("j1", "j2", "g1"))
        for generator in ("g1", "g2")
        for number in range(8)
    ]
    trial = Verdict("j1", "g2", "g2-0", (0, 0, 0, 0, 0), phase=0)
    only = Verdict("j1", "g3", "g3-0", (2, 2, 2, 2, 2), phase=0)
    broken = bundle(entry("x", surplus=1), judge_model="j3", generator_model="g2")
    return ledger_of(
        tmp_path_factory.mktemp("study"), [*bundles_of([*verdicts, trial, only]), broken, "```json\n{}```"]
    )


def test_the_output_is_of_its_schema_and_has_the_promised_shape(study, capsys):
    summary = output(capsys, "aggregate", str(study), "--by", "judge_model,generator_model")
    assert spec.violations("eval/summary.json", summary) == []
    assert list(summary)[:4] == ["by", "unit", "rows", "left_out"]
    assert summary["rows"][0].keys() == {
        "key", "n", "n_items", "n_records", "n_judges", "total", "dimensions", "at_min", "at_max", "flags",
    }  # fmt: skip
    assert list(summary["rows"][0]["dimensions"]) == list(DIMENSIONS)


def test_every_expected_cell_is_there_and_says_why_it_is_empty(study, capsys):
    summary = output(capsys, "aggregate", str(study), "--by", "judge_model,generator_model")
    rows = {tuple(row["key"].values()): row for row in summary["rows"]}
    assert sorted(rows) == [
        (judge, generator) for judge in ("g1", "j1", "j2", "j3") for generator in ("g1", "g2", "g3")
    ]
    empty = {key: row["flags"] for key, row in rows.items() if row["n"] == 0}
    assert empty == {
        ("g1", "g1"): ["only_self_judged"],
        ("g1", "g3"): ["no_records"],
        ("j1", "g3"): ["only_diagnostic"],
        ("j2", "g3"): ["no_records"],
        ("j3", "g1"): ["no_records"],
        ("j3", "g2"): ["only_invalid"],
        ("j3", "g3"): ["no_records"],
    }
    for key in empty:
        assert rows[key]["total"] == dict.fromkeys((*NUMBERS, "ci95"))


def test_everything_is_either_in_a_row_or_left_out_by_reason(study, capsys):
    for by in ("judge_model,generator_model", "judge_model", "", "generator_model"):
        summary = output(capsys, "aggregate", str(study), "--by", by)
        left = dict(summary["left_out"])
        assert (left.pop("unreadable_bundles"), left.pop("files_without_entry")) == (1, 0)
        counted = sum(row["n_records"] for row in summary["rows"])
        assert counted + sum(left.values()) == summary["records"] == 51
        assert left["diagnostic"] == 2
        assert left["invalid"] == 1
        assert left["self_judged"] == (8 if by == "judge_model,generator_model" else 0)


def test_self_judged_records_count_beside_others_and_are_flagged(study, capsys):
    summary = output(capsys, "aggregate", str(study), "--by", "judge_model")
    flags = {row["key"]["judge_model"]: row["flags"] for row in summary["rows"]}
    assert flags == {"g1": ["self_judged_included"], "j1": [], "j2": [], "j3": ["only_invalid"]}


def test_phase_0_counts_only_when_asked_for_and_every_format_says_so(study, capsys):
    told = refusal(capsys, "aggregate", str(study), "--diagnostic")
    assert "of phase 0 and 1" in told
    options = ["aggregate", str(study), "--diagnostic", "--where", "phase=0", "--by", "generator_model"]
    summary = output(capsys, *options)
    assert summary["diagnostic"] is True
    assert [row["total"]["mean"] for row in summary["rows"]] == [0, 10]
    assert [(row["at_min"], row["at_max"]) for row in summary["rows"]] == [(1, 0), (0, 1)]
    assert all("diagnostic" in row["flags"] for row in summary["rows"])
    assert all("one_unit" in row["flags"] for row in summary["rows"])
    for form in ("text", "md", "latex", "csv"):
        assert main([*options, "--format", form]) == 0
        assert "diagnostic" in capsys.readouterr().out.lower()


def test_phases_are_mixed_only_when_asked_for_and_then_flagged(tmp_path, capsys):
    study = [Verdict("j", "g", f"a{phase}", (1, 1, 1, 1, 1), phase=phase) for phase in (1, 2)]
    documents = bundles_of(study)
    documents[1]["per_file_scores"][0]["evidence"] = dict.fromkeys(DIMENSIONS, "as quoted")
    ledger = str(ledger_of(tmp_path, documents))
    assert "--by phase" in refusal(capsys, "aggregate", ledger, "--by", "judge_model")
    (row,) = output(capsys, "aggregate", ledger, "--mix", "phase")["rows"]
    assert row["flags"] == ["mixed_phases"]
    rows = output(capsys, "aggregate", ledger, "--by", "phase")["rows"]
    assert [row["key"] for row in rows] == [{"phase": 1}, {"phase": 2}]
    (row,) = output(capsys, "aggregate", ledger, "--where", "phase=2")["rows"]
    assert (row["n"], row["flags"]) == (1, ["one_unit"])


def test_protocol_versions_are_not_mixed_silently(tmp_path, capsys):
    study = [Verdict("j", "g", f"a{version}", (1, 1, 1, 1, 1), protocol=version) for version in ("p-1", "p-2")]
    ledger = str(ledger_of(tmp_path, bundles_of(study)))
    assert "--mix protocol_version" in refusal(capsys, "aggregate", ledger)
    (row,) = output(capsys, "aggregate", ledger, "--mix", "protocol_version")["rows"]
    assert row["flags"] == ["mixed_protocol_versions"]
    assert len(output(capsys, "aggregate", ledger, "--by", "protocol_version")["rows"]) == 2


def test_judges_of_an_artifact_are_averaged_first_however_often_they_judged(tmp_path, capsys):
    study = [
        Verdict("j1", "g", "a", (0, 0, 0, 0, 0), run="r-1"),
        Verdict("j1", "g", "a", (2, 0, 0, 0, 0), run="r-2"),
        Verdict("j1", "g", "a", (2, 2, 0, 0, 0), run="r-3"),
        Verdict("j2", "g", "a", (2, 2, 2, 2, 2), run="r-1"),
        Verdict("j2", "g", "b", (1, 1, 1, 1, 1), run="r-1"),
    ]
    (row,) = output(capsys, "aggregate", str(ledger_of(tmp_path, bundles_of(study))))["rows"]
    assert (row["n"], row["n_records"], row["n_judges"]) == (2, 5, 2)
    assert (row["total"]["max"], row["total"]["min"], row["total"]["mean"]) == (6, 5, 5.5)


def test_artifacts_of_different_generators_are_different_whatever_their_names(tmp_path, capsys):
    study = [Verdict("j", generator, "same.pdf", (1, 1, 1, 1, 1)) for generator in ("g1", "g2")]
    (row,) = output(capsys, "aggregate", str(ledger_of(tmp_path, bundles_of(study))))["rows"]
    assert row["n"] == 2


def test_a_bundle_in_two_ledgers_counts_once_and_never_under_two_settings(tmp_path, capsys):
    documents = bundles_of([Verdict("j", "g", f"a{n}", (n % 3, 1, 1, 1, 1)) for n in range(4)])
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
    one = ledger_of(tmp_path / "one", documents)
    two = ledger_of(tmp_path / "two", [*documents, *bundles_of([Verdict("j", "g", "b", (2, 2, 2, 2, 2))])])
    summary = output(capsys, "aggregate", str(one), str(two))
    assert summary["rows"][0]["n_records"] == 5
    assert summary["left_out"]["duplicate"] == 4
    manifest = {"files": [{"file": f"a{n}"} for n in range(4)]}
    three = ledger_of(tmp_path / "three", documents, manifest=manifest)
    assert "different settings" in refusal(capsys, "aggregate", str(one), str(three))


def test_what_a_manifest_lists_and_no_bundle_has_is_an_expected_cell(tmp_path, capsys):
    files = [
        {"file": "a", "generator_model": "g1", "factors": {"v": "x"}},
        {"file": "b", "generator_model": "g2", "factors": {"v": "y"}},
    ]
    manifest = {"protocol_version": "p-1", "judge_model": "j", "phase": 1, "files": files}
    ledger = ledger_of(tmp_path, [{"per_file_scores": [entry("a")]}], manifest=manifest)
    summary = output(capsys, "aggregate", str(ledger), "--by", "generator_model,factors.v")
    assert [(row["key"]["generator_model"], row["key"]["factors.v"], row["n"]) for row in summary["rows"]] == [
        ("g1", "x", 1), ("g1", "y", 0), ("g2", "x", 0), ("g2", "y", 0),
    ]  # fmt: skip
    assert summary["left_out"]["files_without_entry"] == 1


def partial_rows(capsys, ledger, *options):
    summary = output(capsys, "aggregate", str(ledger), *options)
    return [row["key"] for row in summary["rows"] if "partial" in row["flags"]]


def test_rows_of_a_partial_run_are_flagged_unless_another_leg_has_what_is_missing(tmp_path, capsys):
    run = {"protocol_version": "p-1", "judge_model": "j", "phase": 1, "run_id": "r"}
    files = [
        {"file": name, "generator_model": generator} for name, generator in (("a", "g1"), ("b", "g2"), ("c", "g2"))
    ]
    ledger = ledger_of(tmp_path, [{"per_file_scores": [entry("a"), entry("b")]}], manifest={**run, "files": files})
    assert partial_rows(capsys, ledger) == [{}]
    assert partial_rows(capsys, ledger, "--by", "generator_model") == [{"generator_model": "g2"}]
    assert partial_rows(capsys, ledger, "--where", "generator_model=g1") == []
    main(["list", str(ledger), "--reason", "file_without_entry"])
    [_, line] = capsys.readouterr().out.splitlines()
    assert line.split()[1:4] == ["missing", "c", "-"]
    leg = {**run, "judge_model": "k", "leg": "second", "files": files[2:]}
    ledger_of(tmp_path, [{"per_file_scores": [entry("c")]}], manifest=leg)
    assert partial_rows(capsys, ledger, "--by", "leg") == [{"leg": None}]
    assert partial_rows(capsys, ledger, "--by", "generator_model", "--mix", "leg") == []


def test_a_partial_run_is_told_where_its_metadata_is_stated_with_set(tmp_path, capsys):
    manifest = {"protocol_version": "p-1", "judge_model": "j", "phase": 1, "files": [{"file": "a"}, {"file": "b"}]}
    stated = {"generator_model": "g", "factors": {"style": "short"}}
    ledger = ledger_of(tmp_path, [{"per_file_scores": [entry("a")]}], manifest=manifest, stated=stated)
    for by in ("generator_model", "factors.style", "judge_model"):
        [row] = output(capsys, "aggregate", str(ledger), "--by", by)["rows"]
        assert (row["n"], "partial" in row["flags"]) == (1, True), by


def test_missing_files_are_known_by_a_field_and_not_by_the_words_of_a_message(tmp_path, capsys):
    manifest = {"protocol_version": "p-1", "judge_model": "j", "phase": 1, "files": [{"file": "a"}, {"file": "b"}]}
    bundle = {"generator_model": "g", "per_file_scores": [entry("a")]}
    ledger = ledger_of(tmp_path, [bundle], manifest=manifest)
    with reading(ledger) as opened:
        [header] = opened.items("headers")
    reworded = {**header, "reasons": [{**reason, "message": "other words"} for reason in header["reasons"]]}
    assert files_without_entry(reworded) == {"b"}
    unsaid = [{key: value for key, value in reason.items() if key != "file"} for reason in header["reasons"]]
    with pytest.raises(UnusableLedger, match="normalize it again"):
        files_without_entry({**header, "reasons": unsaid})
    capsys.readouterr()
    assert main(["list", str(ledger), "--format", "json"]) == 0
    listed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(item["kind"], item["file"]) for item in listed] == [("valid", "a"), ("missing", "b")]


def test_an_item_of_a_manifest_without_a_comparison_is_listed_as_missing(tmp_path, capsys):
    manifest = {"protocol_version": "p-1", "judge_model": "j", "phase": 1, "files": [{"file": "a"}, {"file": "b"}]}
    entry = {"item": "a", "a": "g", "b": "h", "verdict": "a", "order": "ab"}
    ledger = ledger_of(tmp_path, [{"per_comparison": [entry]}], manifest=manifest)
    capsys.readouterr()
    assert main(["list", str(ledger), "--format", "json"]) == 0
    listed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(item["kind"], item["file"]) for item in listed] == [("valid", "a"), ("missing", "b")]


RUBRIC: dict[str, Any] = {
    "name": "odd-v1",
    "dimensions": {
        "fine": {"scale": {"kind": "range", "minimum": -(10**12), "maximum": 10**12}},
        "Fine": {"scale": {"kind": "decimals", "minimum": -1, "maximum": 1, "places": 2}},
        'it\'s \\ "odd"': {"scale": {"kind": "values", "values": [0, 0.5, 1]}},
        "verdict": {"scale": {"kind": "labels", "labels": {"fail's": 0.25, "pa\\ss": 1}}},
    },
}


def odd_entry(file, fine, more, odd, verdict):
    spelled = ['"fine":' + fine, '"Fine":' + more, '"it\'s \\\\ \\"odd\\"":' + odd, f'"verdict":{json.dumps(verdict)}']
    return f'{{"file":"{file}","scores":{{{",".join(spelled)}}}}}'


def test_scales_of_every_kind_are_summed_exactly_to_their_last_digit(tmp_path, capsys):
    entries = [
        odd_entry("a", "999999999999.123456789012", "0.10", "0.5", "fail's"),
        odd_entry("b", "-999999999999.123456789011", "-1.00e-1", "1", "pa\\ss"),
        odd_entry("c", "0.000000000001", "1", "0.0", "pa\\ss"),
    ]
    text = '{"protocol_version":"p","judge_model":"j","generator_model":"g","phase":1,"per_file_scores":[%s]}'
    ledger = ledger_of(tmp_path, [text % ",".join(entries)], rubric=RUBRIC)
    (row,) = aggregate((ledger,), Options())["rows"]
    fine = [Fraction(x) for x in ("999999999999.123456789012", "-999999999999.123456789011", "0.000000000001")]
    middle = sum(fine, Fraction(0)) / 3
    variance = sum(((x - middle) ** 2 for x in fine), Fraction(0)) / 2
    assert row["dimensions"]["fine"]["mean"] == 0
    assert abs(Fraction(row["dimensions"]["fine"]["sd"]) ** 2 - variance) < 2 * 10**6
    assert f"{row['dimensions']['fine']['max']:f}" == "999999999999.123457"
    assert f"{row['dimensions']['Fine']['mean']:f}" == "0.333333"
    assert f"{row['dimensions']['verdict']['mean']:f}" == "0.75"
    assert f"{row['total']['mean']:f}" == "1.583333"


def test_coarse_scales_of_every_kind_are_read_by_the_engine_itself(tmp_path):
    rubric = json.loads(json.dumps(RUBRIC))
    rubric["dimensions"]["fine"]["scale"].update(minimum=-100, maximum=100)
    entries = [odd_entry("a", "99.123456789012", "0.10", "5e-1", "fail's"), odd_entry("b", "1E2", "-0", "1", "pa\\ss")]
    text = '{"protocol_version":"p","judge_model":"j","generator_model":"g","phase":1,"per_file_scores":[%s]}'
    ledger = ledger_of(tmp_path, [text % ",".join(entries)], rubric=rubric)
    (row,) = aggregate((ledger,), Options())["rows"]
    assert f"{row['dimensions']['fine']['min']:f}" == "99.123457"
    assert f"{row['total']['min']:f}" == "99.973457"
    assert f"{row['total']['max']:f}" == "102"


def test_records_of_two_rubrics_are_never_put_together(tmp_path, capsys):
    ledger_of(tmp_path, bundles_of([Verdict("j", "g", "a", (1, 1, 1, 1, 1))]))
    rubric = {"name": "other", "dimensions": {DIMENSIONS[0]: {"scale": {"kind": "labels", "labels": {"ok": 1}}}}}
    other = bundle({"file": "a", "scores": {DIMENSIONS[0]: "ok"}})
    ledger = str(ledger_of(tmp_path, [other], rubric=rubric))
    assert "--where rubric=" in refusal(capsys, "aggregate", ledger)
    for name, total in (("other", 1), ("prompt-drift-v1", 5)):
        summary = output(capsys, "aggregate", ledger, "--where", f"rubric={name}")
        assert summary["rows"][0]["total"]["mean"] == total
        assert summary["left_out"]["not_selected"] == 1


def test_relaxed_records_off_the_scale_have_no_total_and_are_counted(tmp_path, capsys):
    relaxed = {"statement": "Leave out what does not apply.", "constraint": "rubric_keys"}
    manifest = {"phase": 0, "relaxations": [relaxed], "files": [{"file": "a"}, {"file": "b"}]}
    short = {"file": "b", "scores": {DIMENSIONS[0]: 1}}
    ledger = str(ledger_of(tmp_path, [{"per_file_scores": [entry("a"), short]}], manifest=manifest))
    summary = output(capsys, "aggregate", ledger, "--diagnostic")
    assert summary["rows"][0]["n"] == 1
    assert summary["left_out"]["off_scale"] == 1
    summary = output(capsys, "aggregate", ledger)
    assert summary["left_out"]["diagnostic"] == 2
    assert summary["rows"][0]["flags"] == ["only_diagnostic"]


def test_scores_that_no_short_number_holds_are_off_the_scale_and_no_error(tmp_path, capsys):
    relaxed = {"statement": "Any number.", "constraint": "rubric_values"}
    manifest = {"phase": 0, "relaxations": [relaxed], "files": [{"file": name} for name in "abcd"]}
    great = [
        entry(name, scores=dict.fromkeys(DIMENSIONS, score))
        for name, score in zip("bcd", (999999999, 3 * 10**9, 10**18), strict=True)
    ]
    ledger = str(ledger_of(tmp_path, [{"per_file_scores": [entry("a"), *great]}], manifest=manifest))
    assert output(capsys, "aggregate", ledger)["left_out"]["diagnostic"] == 4
    summary = output(capsys, "aggregate", ledger, "--diagnostic")
    assert (summary["rows"][0]["n"], summary["left_out"]["off_scale"]) == (1, 3)


def test_a_group_is_empty_for_the_reason_that_its_records_are_left_out_for(tmp_path, capsys):
    relaxed = {"statement": "Leave out what does not apply.", "constraint": "rubric_keys"}
    manifest = {"phase": 0, "relaxations": [relaxed], "files": [{"file": "b"}]}
    short = {"file": "b", "scores": {DIMENSIONS[0]: 1}}
    ledger = str(ledger_of(tmp_path, [{"per_file_scores": [short]}], manifest=manifest))
    for flags, reason in (([], "diagnostic"), (["--diagnostic"], "off_scale")):
        summary = output(capsys, "aggregate", ledger, *flags)
        assert summary["left_out"][reason] == 1
        assert f"only_{reason}" in summary["rows"][0]["flags"]


def test_a_ledger_whose_scores_were_edited_is_refused(tmp_path, capsys):
    ledger = ledger_of(tmp_path, bundles_of([Verdict("j", "g", "a", (1, 1, 1, 1, 1))]))
    path = ledger / "records.jsonl"
    path.write_text(path.read_text().replace('"A_structure":1', '"A_structure":"one"'))
    assert "records.jsonl was changed" in refusal(capsys, "aggregate", str(ledger))
    (ledger / "commit.json").unlink()
    assert "commit.json is missing" in refusal(capsys, "aggregate", str(ledger))


ODD_NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


@settings(max_examples=25)
@given(ODD_NAMES, ODD_NAMES, ODD_NAMES)
def test_names_are_only_names_whatever_they_hold(judge, factor, level):
    document = bundle(entry("a"), judge_model=judge, factors={factor: level}, self_judged=judge == "writer-small")
    with TemporaryDirectory() as scratch:
        ledger = ledger_of(Path(scratch), [document, bundle(entry("b"), judge_model="j")])
        where = {f"factors.{factor}": level}
        (row,) = aggregate((ledger,), Options(by=("judge_model", f"factors.{factor}"), where=where))["rows"]
    assert row["key"] == {"judge_model": judge, f"factors.{factor}": level}
    assert row["n"] == (judge != "writer-small")


def test_every_table_has_every_row_and_says_what_was_left_out(study, capsys):
    rows = output(capsys, "aggregate", str(study), "--by", "judge_model,generator_model")["rows"]
    for form in ("text", "md", "latex", "csv"):
        assert main(["aggregate", str(study), "--by", "judge_model,generator_model", "--format", form]) == 0
        said = capsys.readouterr().out
        assert said.count("NA") >= 7 * 4
        assert "no" in said
        assert ("not_selected" in said) or (r"not\_selected" in said)
    assert main(["aggregate", str(study), "--by", "judge_model,generator_model", "--format", "csv"]) == 0
    table = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    groups = [row for row in table if row["row"] == "group"]
    assert [row["total.mean"] for row in groups] == [
        "NA" if row["total"]["mean"] is None else f"{row['total']['mean']:.6f}".rstrip("0").rstrip(".") for row in rows
    ]
    assert {row["flags"]: row["n_records"] for row in table if row["row"] == "left_out"}["invalid"] == "1"


def test_markup_in_names_stays_text(tmp_path, capsys):
    hostile = "<script>|*a*|\\end{tabular}$\u202e\x1b[31m"
    ledger = str(ledger_of(tmp_path, [bundle(judge_model=hostile)]))
    assert main(["aggregate", ledger, "--by", "judge_model", "--format", "md"]) == 0
    said = capsys.readouterr().out
    assert "<script>" not in said
    assert r"\|\*a\*\|" in said
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert main(["aggregate", ledger, "--by", "judge_model", "--format", "latex"]) == 0
    said = capsys.readouterr().out
    assert said.count(r"\end{tabular}") == 1
    assert r"\textbackslash{}end\{tabular\}\$" in said


def test_unknown_keys_are_refused_with_the_list_of_keys(study, capsys):
    assert "factors.NAME" in refusal(capsys, "aggregate", str(study), "--by", "judge")
    assert "KEY=LEVEL" in refusal(capsys, "aggregate", str(study), "--where", "phase")
    for command in ("aggregate", "agreement", "compare"):
        twice = refusal(capsys, command, str(study), "--where", "judge_model=a", "--where", "judge_model=b")
        assert "--where names judge_model twice" in twice
    assert "name one" in refusal(capsys, "aggregate", str(study), "--where", "rubric=")
    assert "is not a ledger" in refusal(capsys, "aggregate", str(study.parent))


def test_the_name_of_a_ledger_is_no_pattern(tmp_path, capsys):
    for name in ("x*", "xy", "[x]{a,b}'?"):
        (tmp_path / name).mkdir()
        ledger_of(tmp_path / name, bundles_of([Verdict("j", "g", name, (1, 1, 1, 1, 1))]))
    for name in ("x*", "[x]{a,b}'?"):
        assert output(capsys, "aggregate", str(tmp_path / name / "ledger"))["rows"][0]["n"] == 1


def test_a_ledger_of_nothing_but_invalid_records_has_a_table_that_says_so(tmp_path, capsys):
    ledger = str(ledger_of(tmp_path, [bundle(entry("a", surplus=1), rubric="another")]))
    summary = output(capsys, "aggregate", ledger, "--by", "judge_model")
    assert [(row["n"], row["flags"]) for row in summary["rows"]] == [(0, ["only_invalid"])]
    assert (summary["records"], summary["left_out"]["invalid"]) == (1, 1)
    report = output(capsys, "aggregate", "--sensitivity", ledger)["sensitivity"]
    assert report["bounds"][0]["na"] == dict.fromkeys(("mean", "at_minimum", "at_maximum"), "no_records")
    agreed = output(capsys, "agreement", ledger)
    assert agreed["severity"]["judges"] == report["leave_one_judge_out"] == agreed["pairs"] == []


def test_bundles_that_could_not_be_read_are_told_too(tmp_path, capsys):
    ledger = str(ledger_of(tmp_path, ["```"]))
    summary = output(capsys, "aggregate", ledger)
    assert (summary["records"], summary["left_out"]["unreadable_bundles"]) == (0, 1)
    assert "1200MB" in refusal(capsys, "aggregate", ledger, "--memory", "much")
