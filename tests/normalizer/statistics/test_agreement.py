"""Agreement between judges, against published implementations: scikit-learn and krippendorff."""

import json
import math
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import contract_spec as spec
import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, confusion_matrix, mean_absolute_error

from normalizer.aggregate.eligibility import Rules
from normalizer.aggregate.summary import Options
from normalizer.cli import main
from normalizer.statistics import agreement_measures
from normalizer.statistics.agreement import agreement
from tests.support.bundles import DIMENSIONS
from tests.support.labelling import bundle_of, labelled
from tests.support.studies import Verdict, bundles_of, ledger_of, output, refusal

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=30)


def number(value):
    return math.nan if value is None else float(value)


def test_ac1_is_that_of_gwets_example():
    """125 subjects, two raters, one value rare: kappa -0.023 and AC1 0.941 (Gwet, Inter-Rater Reliability, 2002)."""
    joint = Counter({(1, 1): 118, (1, 0): 5, (0, 1): 2})
    found, _ = agreement_measures.pair_measures(joint, 1)
    assert number(found["kappa"]) == pytest.approx(-0.0234, abs=5e-5)
    assert number(found["ac1"]) == pytest.approx(0.9408, abs=5e-5)


@given(PAIRS)
def test_measures_of_a_pair_are_those_of_the_references(pairs):
    first, second = (list(column) for column in zip(*pairs, strict=True))
    found, reasons = agreement_measures.pair_measures(Counter(pairs), 1)
    assert number(found["mae"]) == pytest.approx(mean_absolute_error(first, second))
    assert number(found["bias"]) == pytest.approx(np.mean(np.array(first) - np.array(second)))
    assert found["max_abs_diff"] == max(abs(one - other) for one, other in pairs)
    assert number(found["exact"]) == pytest.approx(np.mean([one == other for one, other in pairs]))
    if len({*first, *second}) == 1:
        assert set(reasons) == {"kappa", "ac1", "kappa_quadratic", "alpha_ordinal"}
        assert {found[name] for name in reasons} == {None}
        return
    assert reasons == {}
    labels = list(range(5))
    assert number(found["kappa"]) == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)
    weighted = cohen_kappa_score(first, second, weights="quadratic", labels=labels)
    assert number(found["kappa_quadratic"]) == pytest.approx(weighted, abs=1e-12)
    expected = krippendorff.alpha([first, second], level_of_measurement="ordinal", value_domain=labels)
    assert number(found["alpha_ordinal"]) == pytest.approx(expected, abs=1e-9)


PANELS = st.lists(
    st.dictionaries(st.sampled_from(["j1", "j2", "j3", "j4"]), st.tuples(*[st.integers(0, 2)] * 5), min_size=1),
    min_size=1,
    max_size=12,
)


@settings(max_examples=15)
@given(PANELS)
def test_alpha_of_all_judges_is_that_of_the_reference_gaps_and_all(panels):
    study = [
        Verdict(judge, "g", f"a{place}", scores)
        for place, panel in enumerate(panels)
        for judge, scores in panel.items()
    ]
    with TemporaryDirectory() as scratch:
        report = agreement((ledger_of(Path(scratch), bundles_of(study)),), Options())
    measures = {"total": sum} | {name: (lambda s, at=at: s[at]) for at, name in enumerate(DIMENSIONS)}
    everyone = {"total": report["all"]["total"], **report["all"]["dimensions"]}
    for name, measure in measures.items():
        data = [[measure(panel[j]) if j in panel else math.nan for panel in panels] for j in ("j1", "j2", "j3", "j4")]
        pairable = [panel for panel in panels if len(panel) > 1]
        assert everyone[name]["n"] == len(pairable)
        assert everyone[name]["n_values"] == sum(map(len, pairable))
        if len({measure(scores) for panel in pairable for scores in panel.values()}) < 2:
            assert everyone[name]["alpha_ordinal"] is None
            assert everyone[name]["na"]
            continue
        for level in ("ordinal", "interval", "nominal"):
            expected = krippendorff.alpha(data, level_of_measurement=level)
            assert float(everyone[name][f"alpha_{level}"]) == pytest.approx(expected, abs=1e-6)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    study = [
        Verdict(judge, "j3", f"a{place}", ((place * step) % 3, 1, place % 2, 2, (place + step) % 3))
        for step, judge in enumerate(("j1", "j2", "j3"), start=1)
        for place in range(0 if judge != "j3" else 6, 9)
    ]
    alone = [Verdict("j4", "j3", "elsewhere", (1, 1, 1, 1, 1))]
    return ledger_of(tmp_path_factory.mktemp("agreement"), bundles_of(study + alone))


def test_the_report_is_of_its_schema_and_lists_every_pair(ledger, capsys):
    report = output(capsys, "agreement", str(ledger))
    assert spec.violations("eval/agreement.json", report) == []
    assert [(*pair["judges"], pair["n"]) for pair in report["pairs"]] == [
        ("j1", "j2", 9), ("j1", "j3", 3), ("j1", "j4", 0), ("j2", "j3", 3), ("j2", "j4", 0), ("j3", "j4", 0),
    ]  # fmt: skip
    assert report["pairs"][2]["total"]["na"]["mae"] == agreement_measures.NOTHING_SHARED
    assert report["pairs"][1]["flags"] == ["self_judged_included"]
    assert report["pairs"][0]["dimensions"]["B_snapshot_constraint"]["na"]["kappa"] == agreement_measures.CONSTANT


def test_confusion_matrices_are_those_of_the_reference(ledger, capsys):
    pair = output(capsys, "agreement", str(ledger))["pairs"][0]
    expected = confusion_matrix([place % 3 for place in range(9)], [(2 * place) % 3 for place in range(9)])
    found = np.zeros((3, 3), dtype=int)
    for cell in pair["dimensions"]["A_structure"]["confusion"]:
        found[tuple(cell["values"])] = cell["n"]
    assert found.tolist() == expected.tolist()


def test_tables_name_the_reason_of_every_na(ledger, capsys):
    for form in ("text", "csv", "md", "latex"):
        assert main(["agreement", str(ledger), "--format", form]) == 0
        said = capsys.readouterr().out
        assert "NA" in said
        assert form == "csv" or agreement_measures.NOTHING_SHARED in said


def test_a_judge_that_judged_twice_counts_once_with_its_mean(tmp_path):
    study = [
        Verdict("j1", "g", "a", (2, 2, 2, 2, 2), run="r-1"),
        Verdict("j1", "g", "a", (1, 1, 1, 1, 1), run="r-2"),
        Verdict("j2", "g", "a", (1, 1, 1, 1, 1)),
    ]
    (pair,) = agreement((ledger_of(tmp_path, bundles_of(study)),), Options())["pairs"]
    assert (pair["n"], pair["flags"]) == (1, ["repeated"])
    assert pair["total"]["bias"] == 2.5


def test_the_same_rules_decide_what_counts(tmp_path, capsys):
    study = [Verdict(judge, "g", "a", (1, 1, 1, 1, 1), phase=phase) for judge in ("j1", "j2") for phase in (0, 1)]
    ledger = ledger_of(tmp_path, bundles_of(study))
    report = output(capsys, "agreement", str(ledger))
    assert report["left_out"]["diagnostic"] == 2
    assert "of phase 0 and 1" in refusal(capsys, "agreement", str(ledger), "--diagnostic")
    report = agreement((ledger,), Options(where={"phase": 0}, rules=Rules(diagnostic=True)))
    assert report["pairs"][0]["flags"] == ["diagnostic"]


CODED = {"A": "123321412...", "B": "1233224125.3", "C": ".3332342251.", "D": "12332441251."}
"""Four coders, twelve units: Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), with its alphas below."""
PUBLISHED = {"alpha_nominal": 0.743, "alpha_ordinal": 0.815, "alpha_interval": 0.849}


def test_alphas_of_krippendorffs_own_example_are_the_published_ones(tmp_path):
    rubric = tmp_path / "rubric.json"
    scale = {"kind": "integers", "minimum": 1, "maximum": 5}
    rubric.write_text(json.dumps({"name": "coded", "dimensions": {"code": {"scale": scale}}}))
    bundles = [
        bundle_of({f"u{place}": {"code": int(code)} for place, code in enumerate(codes) if code != "."}, coder)
        for coder, codes in CODED.items()
    ]
    ledger = labelled(tmp_path, "ledger", *bundles, options=("--rubric", str(rubric)))
    total = agreement((ledger,), Options())["all"]["total"]
    assert {name: float(total[name]) for name in PUBLISHED} == pytest.approx(PUBLISHED, abs=5e-4)
