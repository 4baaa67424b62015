"""What means depend on, severity and sign flips: against brute force, SciPy and least squares; what cannot be
estimated is said."""

import json
import math
from fractions import Fraction
from itertools import product

import contract_spec as spec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from normalizer.aggregate.intervals import rate_interval
from normalizer.aggregate.summary import Options
from normalizer.cli import main
from normalizer.ledger.reader import reading
from normalizer.statistics import rates, signflip
from normalizer.statistics.agreement import agreement
from normalizer.statistics.sensitivity import aggregate_with_sensitivity
from tests.support.bundles import DIMENSIONS, bundle, entry
from tests.support.labelling import bundle_of, labelled, noisy, truth
from tests.support.studies import Verdict, bundles_of, ledger_of, output, refusal

DIFFERENCES = st.lists(st.fractions(-3, 3, max_denominator=4), min_size=1, max_size=9)


@given(DIFFERENCES)
def test_the_sign_flip_test_counts_every_pattern(differences):
    observed = abs(sum(differences))
    patterns = list(product((1, -1), repeat=len(differences)))
    far = sum(abs(sum(s * d for s, d in zip(signs, differences, strict=True))) >= observed for signs in patterns)
    assert signflip.sign_flip(differences, seed=0) == (Fraction(far, len(patterns)), "exact")


def test_the_sign_flip_test_is_that_of_scipy():
    differences = [Fraction(number) for number in (3, -1, 2, 5, 0, 1, -2, 4)]
    expected = stats.permutation_test(
        ([float(d) for d in differences],), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    assert float(signflip.sign_flip(differences, seed=0).p) == pytest.approx(expected.pvalue)


def test_drawn_patterns_come_near_the_exact_share_and_are_the_same_every_time(monkeypatch):
    differences = [Fraction(place % 5 - 1) for place in range(40)]
    exact = signflip.sign_flip(differences, seed=1)
    monkeypatch.setattr(signflip, "_MOST_BITS", 0)
    drawn = signflip.sign_flip(differences, seed=1, resamples=4000)
    assert drawn.method == "monte_carlo"
    assert drawn == signflip.sign_flip(differences, seed=1, resamples=4000)
    assert abs(drawn.p - exact.p) < Fraction(1, 100)
    monkeypatch.setattr(signflip, "_MANY", 10)
    limit = signflip.sign_flip(differences, seed=1)
    assert limit.method == "normal"
    assert abs(limit.p - exact.p) < Fraction(1, 100)


@given(st.lists(st.none() | st.fractions(0, 1), max_size=8))
def test_holm_is_the_textbook_procedure(values):
    known = [value for value in values if value is not None]
    corrected = signflip.holm(values)
    for value, found in zip(values, corrected, strict=True):
        if value is None:
            assert found is None
        else:
            at_most = sorted(known)[: sum(other <= value for other in known)]
            assert found == max(min(Fraction(1), p * (len(known) - rank)) for rank, p in enumerate(at_most))


@given(st.integers(0, 50), st.integers(1, 50))
def test_the_interval_of_a_rate_is_that_of_scipy(count, more):
    n = max(count, more)
    expected = stats.binomtest(count, n).proportion_ci(0.95, method="exact")
    assert [float(end) for end in rate_interval(Fraction(count, n), n)] == pytest.approx(list(expected), abs=1e-12)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    """Three judges, one of them a generator too, unevenly; six questions, two prompt versions; two INVALID records."""
    chance = np.random.default_rng(5)
    documents = []
    for mild, judge in enumerate(("g1", "j1", "j2")):
        for generator in ("g1", "g2"):
            for version in ("new", "old"):
                entries = []
                for question in range(6):
                    if judge == "j2" and question == 0 and version == "old":
                        continue
                    scores = np.clip(chance.integers(0, 3, 5) + (mild == 2) - (version == "old"), 0, 2)
                    scored = dict(zip(DIMENSIONS, map(int, scores), strict=True))
                    entries.append((question, {"file": f"{generator}/{version}/q{question}", "scores": scored}))
                for question, item in entries:
                    documents.append(
                        bundle(
                            item,
                            judge_model=judge,
                            generator_model=generator,
                            self_judged=judge == generator,
                            factors={"version": version, "question": f"q{question}"},
                        )
                    )
    documents.append(bundle(entry("g2/new/lost", surplus=1), judge_model="j1", generator_model="g2"))
    documents.append(bundle(entry("g2/old/lost", surplus=1), judge_model="j2", generator_model="g2"))
    return ledger_of(tmp_path_factory.mktemp("statistics"), documents)


@pytest.fixture(scope="module")
def report(ledger):
    return aggregate_with_sensitivity((ledger,), Options(by=("generator_model",)))["sensitivity"]


@pytest.fixture(scope="module")
def agreed(ledger):
    return agreement((ledger,), Options())


def records(ledger):
    with reading(ledger) as opened:
        return list(opened.items("records"))


def test_the_summary_with_its_sensitivity_is_of_its_schema(ledger, capsys):
    options = ["--by", "generator_model", "--sensitivity"]
    found = output(capsys, "aggregate", str(ledger), *options)
    assert spec.violations("eval/summary.json", found) == []
    alone = output(capsys, "aggregate", str(ledger), *options[:2])
    assert {name: part for name, part in found.items() if name != "sensitivity"} == alone
    for form in ("text", "md"):
        assert main(["aggregate", str(ledger), *options, "--format", form]) == 0
        assert "Without one judge" in capsys.readouterr().out
    assert "json, md or text" in refusal(capsys, "aggregate", str(ledger), *options, "--columns", "n")


def test_audit_has_the_same_invalid_rates(ledger, report, capsys):
    audited = output(capsys, "audit", str(ledger))
    for table, key in (("judges", "judge_model"), ("generators", "generator_model"), ("phases", "phase")):
        expected = {row["level"]: float(row["rate"]) for row in report["invalid_rates"][key]}
        assert {row[key]: row["invalid_rate"] for row in audited[table]} == expected


def test_invalid_rates_count_everything_by_judge_generator_and_phase(report):
    found = {
        (key, row["level"]): (row["records"], row["invalid"])
        for key in rates.BY
        for row in report["invalid_rates"][key]
    }
    assert found == {
        ("judge_model", "g1"): (24, 0), ("judge_model", "j1"): (25, 1), ("judge_model", "j2"): (23, 1),
        ("generator_model", "g1"): (35, 0), ("generator_model", "g2"): (37, 2), ("phase", 1): (72, 2),
    }  # fmt: skip


def test_bounds_put_every_invalid_record_at_an_end_of_the_scale(ledger, report):
    bound = {row["key"]["generator_model"]: row for row in report["bounds"]}
    assert bound["g1"]["at_minimum"] == bound["g1"]["mean"] == bound["g1"]["at_maximum"]
    assert [(bound[name]["invalid"], bound[name]["absent"]) for name in ("g1", "g2")] == [(0, 0), (2, 0)]
    artifacts: dict[str, list[int]] = {}
    for record in records(ledger):
        if record["generator_model"] == "g2":
            artifacts.setdefault(record["artifact"], []).append(sum(record["scores"].values()))
    means = [np.mean(totals) for totals in artifacts.values()]
    assert float(bound["g2"]["at_minimum"]) == pytest.approx((sum(means) + 0 + 0) / (len(means) + 2), abs=1e-6)
    assert float(bound["g2"]["at_maximum"]) == pytest.approx((sum(means) + 10 + 10) / (len(means) + 2), abs=1e-6)


def test_bounds_put_files_without_an_entry_at_the_ends_too(tmp_path):
    """Ten of twenty files are absent: with a mean of 8.5 the true mean lies between 4.25 and 9.25."""
    names = [f"f{number:02}" for number in range(20)]
    scores = [dict(zip(DIMENSIONS, (2, 2, 2, 2, place % 2), strict=True)) for place in range(10)]
    entries = [{"file": name, "scores": given} for name, given in zip(names, scores, strict=False)]
    run = {"protocol_version": "p-1", "judge_model": "j", "generator_model": "g", "phase": 1}
    manifest = {**run, "files": [{"file": name} for name in names]}
    ledger = ledger_of(tmp_path, [{"per_file_scores": entries}], manifest=manifest)
    [bound] = aggregate_with_sensitivity((ledger,), Options())["sensitivity"]["bounds"]
    assert (bound["n"], bound["invalid"], bound["absent"]) == (10, 0, 10)
    assert [float(bound[name]) for name in ("at_minimum", "mean", "at_maximum")] == [4.25, 8.5, 9.25]


def test_bounds_count_files_without_an_entry_where_only_the_dialect_states_the_phase(tmp_path):
    names = [f"f{number:02}" for number in range(20)]
    rows = [{"q": name, "s": 8.5, "m": "g", "j": "j"} for name in names[:10]]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    fields = {"file": {"at": "/q"}, "scores": {"s": {"at": "/s"}}}
    fields |= {"generator_model": {"at": "/m"}, "judge_model": {"at": "/j"}}
    rubric = {"name": "ten", "dimensions": {"s": {"scale": {"kind": "range", "minimum": 0, "maximum": 10}}}}
    stated = {"phase": 1, "protocol_version": "this", "rubric": rubric}
    dialect = {"name": "rows", "container": [{"kind": "jsonl"}], "fields": fields, **stated}
    manifest = {"judge_model": "j", "generator_model": "g", "files": [{"file": name} for name in names]}
    (tmp_path / "dialect.json").write_text(json.dumps(dialect))
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    given = ["--dialect", str(tmp_path / "dialect.json"), "--manifest", str(tmp_path / "manifest.json")]
    assert main(["normalize", str(tmp_path / "rows.jsonl"), *given, "--out", str(tmp_path / "ledger")]) == 1
    options = Options(by=("generator_model", "protocol_version"))
    [bound] = aggregate_with_sensitivity((tmp_path / "ledger",), options)["sensitivity"]["bounds"]
    assert (bound["n"], bound["invalid"], bound["absent"]) == (10, 0, 10)
    assert [float(bound[name]) for name in ("at_minimum", "mean", "at_maximum")] == [4.25, 8.5, 9.25]


def test_severity_is_the_least_squares_solution(ledger, agreed):
    rows = [
        (
            (r["artifact"], r["generator_model"]),
            r["judge_model"],
            sum(r["scores"].values()),
            r.get("self_judged", False),
        )
        for r in records(ledger)
    ]
    answers, judges = sorted({row[0] for row in rows}), sorted({row[1] for row in rows})
    design = np.zeros((len(rows), len(answers) + len(judges) + 1))
    for place, (answer, judge, _, own) in enumerate(rows):
        design[place, answers.index(answer)] = 1
        design[place, len(answers) + judges.index(judge)] = 1
        design[place, -1] = own
    totals = np.array([row[2] for row in rows], dtype=float)
    solution, _, rank, _ = np.linalg.lstsq(design, totals, rcond=None)
    effects = solution[len(answers) : -1] - solution[len(answers) : -1].mean()
    residual = float(((totals - design @ solution) ** 2).sum())
    severity = agreed["severity"]
    assert [float(row["effect"]) for row in severity["judges"]] == pytest.approx(effects.tolist(), abs=1e-6)
    assert float(agreed["self_against_cross"][0]["excess"]) == pytest.approx(float(solution[-1]), abs=1e-6)
    assert severity["freedom"] == len(rows) - rank
    assert float(severity["residual_sd"]) == pytest.approx(math.sqrt(residual / (len(rows) - rank)), abs=1e-6)


def test_judges_that_never_meet_are_not_compared(tmp_path):
    study = [Verdict(j, "g", a, (1, 1, 1, 1, n)) for n, (j, a) in enumerate([("j1", "a"), ("j2", "a"), ("j3", "b")])]
    severity = agreement((ledger_of(tmp_path, bundles_of(study)),), Options())["severity"]
    assert [(row["judge"], row["panel"], row["effect"]) for row in severity["judges"]] == [
        ("j1", 0, Fraction(-1, 2)), ("j2", 0, Fraction(1, 2)), ("j3", 1, None),
    ]  # fmt: skip
    assert severity["judges"][2]["na"]["effect"] == "it shares no output of another model with another judge"
    assert severity["judges"][0]["na"]["se"].startswith("too few artifacts")


def test_each_judge_is_left_out_in_turn(ledger, report):
    for out in report["leave_one_judge_out"]:
        for row in out["rows"]:
            artifacts: dict[str, list[int]] = {}
            for record in records(ledger):
                if record["generator_model"] == row["key"]["generator_model"] and record["judge_model"] != out["judge"]:
                    artifacts.setdefault(record["artifact"], []).append(sum(record["scores"].values()))
            assert row["n"] == len(artifacts)
            expected = np.mean([np.mean(totals) for totals in artifacts.values()])
            assert float(row["mean"]) == pytest.approx(expected, abs=1e-6)


def test_self_judging_is_compared_on_the_same_artifacts(ledger, agreed):
    by: dict[tuple[str, str], dict[str, int]] = {}
    for record in records(ledger):
        by.setdefault((record["generator_model"], record["artifact"]), {})[record["judge_model"]] = sum(
            record["scores"].values()
        )
    differences = {
        generator: [
            verdicts["g1"] - np.mean([total for judge, total in verdicts.items() if judge != "g1"])
            for (of, _), verdicts in by.items()
            if of == generator and len(verdicts) > 1 and "g1" in verdicts
        ]
        for generator in ("g1", "g2")
    }
    (row,) = agreed["self_against_cross"]
    assert row["judge"] == "g1"
    assert (row["own"]["n"], row["elsewhere"]["n"]) == (12, 12)
    assert float(row["own"]["mean"]) == pytest.approx(np.mean(differences["g1"]), abs=1e-6)
    assert float(row["elsewhere"]["mean"]) == pytest.approx(np.mean(differences["g2"]), abs=1e-6)
    assert row["excess"] is not None
    assert float(row["excess_ci95"][0]) < float(row["excess"]) < float(row["excess_ci95"][1])


def test_generators_that_share_artifacts_are_compared_by_default(tmp_path, capsys):
    real = truth(15, 1)
    other = noisy(real, 2, 0.5)
    runs = (bundle_of(scores, "judge", generator_model=name) for name, scores in (("v1", real), ("v2", other)))
    ledger = labelled(tmp_path, "ledger", *runs)
    capsys.readouterr()
    documents = []
    for flags in ([], ["--by", "generator_model"], ["--by", "generator_model", "--pair-by", "artifact"]):
        assert main(["compare", str(ledger), *flags, "--format", "json"]) == 0
        documents.append(json.loads(capsys.readouterr().out))
    assert documents[0] == documents[1] == documents[2]
    total = documents[0]["contrasts"][0]
    gaps = [sum(real[file].values()) - sum(other[file].values()) for file in real]
    assert (total["levels"], total["n"], total["unpaired"]) == (["v1", "v2"], 15, 0)
    assert total["difference"] == pytest.approx(sum(gaps) / 15, abs=1e-6)
    assert documents[0]["paired_by"] == ["artifact"]


def test_an_artifact_belongs_to_one_cluster(tmp_path, capsys):
    study = [Verdict("j1", "g", "a", (1, 1, 1, 1, 1)), Verdict("j2", "g", "a", (1, 1, 1, 1, 1))]
    ledger = str(ledger_of(tmp_path, bundles_of(study)))
    assert "--unit record" in refusal(capsys, "aggregate", ledger, "--cluster", "judge_model")
