"""Noise and plans against SciPy and statsmodels, and by hand."""

import json
from fractions import Fraction

import contract_spec as spec
import numpy as np
import pytest
import statsmodels.formula.api as smf
from scipy.stats import f
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.power import TTestIndPower, TTestPower

from normalizer.aggregate.summary import Options
from normalizer.cli import main
from normalizer.noise.components import components, variances
from normalizer.noise.designs import Square, cluster_effect, plan_panels
from normalizer.noise.sample_size import PowerTarget, items_needed, power_of
from normalizer.noise.study_plan import plan
from normalizer.tables.formats import dumps
from tests.support.labelling import bundle_of, labelled, noisy, truth

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def runs():
    real = truth(30, 2)
    return [noisy(real, seed, 0.3) for seed in (1, 2, 3)]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory, runs):
    folder = tmp_path_factory.mktemp("noise")
    other = [noisy(run, 9, 0.3) for run in runs[:2]]
    bundles = [bundle_of(run, "judge", run_id=f"r{place}") for place, run in enumerate(runs)]
    bundles += [bundle_of(run, "judge", generator_model="w-2", run_id=f"o{place}") for place, run in enumerate(other)]
    return labelled(folder, "repeats", *bundles)


def test_the_parts_of_the_variance_are_those_of_an_analysis_of_variance(ledger, runs):
    document = plan((ledger,), Options(where={"generator_model": "writer"}), None)
    assert spec.violations("eval/plan.json", json.loads(dumps(document))) == []
    [row] = [each for each in document["results"] if each["measure"] == "total"]
    frame = pd.DataFrame([(f, sum(s.values())) for run in runs for f, s in run.items()], columns=["item", "value"])
    table = anova_lm(smf.ols("value ~ C(item)", frame).fit())
    above, within = table["mean_sq"]["C(item)"], table["mean_sq"]["Residual"]
    between = max((above - within) / 3, 0)
    assert float(row["within_sd"]) == pytest.approx(np.sqrt(within), abs=1e-6)
    assert float(row["between_sd"]) == pytest.approx(np.sqrt(between), abs=1e-6)
    assert float(row["noise_share"]) == pytest.approx(within / (within + between), abs=1e-6)
    # Not narrower than that of normal labels: Shrout and Fleiss (1979), case 1, of the ICC of three repeats.
    ratio, items = above / within, len(runs[0])
    ends = [ratio / f.ppf(0.975, items - 1, 2 * items), ratio * f.ppf(0.975, 2 * items, items - 1)]
    low, high = (1 - (end - 1) / (end + 2) for end in reversed(ends))
    found = [float(end) for end in row["noise_share_ci95"]]
    assert found[0] < (within / (within + between)) < found[1]
    assert high - low < found[1] - found[0] < 2.5 * (high - low)
    totals = [[sum(run[file].values()) for run in runs] for file in runs[0]]
    changed = np.mean([x[i] != x[j] for x in totals for i, j in ((0, 1), (0, 2), (1, 2))])
    assert float(row["changed"]) == pytest.approx(changed, abs=1e-6)


@pytest.mark.parametrize(("gap", "deviation"), [(0.3, 1.0), (0.5, 2.0), (1.0, 1.0), (0.05, 0.7)])
def test_the_items_needed_are_those_of_statsmodels(gap, deviation):
    solver = TTestPower()
    needed = items_needed(gap, deviation, 0.8, 0.05)
    assert needed == max(int(np.ceil(solver.solve_power(gap / deviation, power=0.8, alpha=0.05))), 10)
    for items in (needed, needed + 7):
        upper = solver.power(gap / deviation, items, 0.025, alternative="larger")
        assert power_of(gap, deviation, items, 0.05) == pytest.approx(upper, abs=1e-9)


def test_more_repeats_need_fewer_items_and_pairing_never_needs_more(ledger):
    document = plan((ledger,), Options(), PowerTarget(0.3))
    assert spec.violations("eval/plan.json", json.loads(dumps(document))) == []
    for row in document["results"]:
        for name in ("paired_least", "paired", "unpaired"):
            needed = [line[name] for line in row["plan"]]
            assert needed == sorted(needed, reverse=True)
        for line in row["plan"]:
            assert line["paired_least"] <= min(line["paired"], line["unpaired"])


def test_a_ledger_without_repeats_says_why_there_is_no_plan(tmp_path, capsys):
    ledger = labelled(tmp_path, "once", bundle_of(truth(12, 1), "judge"))
    assert main(["plan", str(ledger), "--detect", "0.3"]) == 0
    assert "no item with two labels" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["json", "csv", "md", "text"])
def test_the_command_writes_every_format(ledger, capsys, form):
    assert main(["plan", str(ledger), "--detect", "0.3", "--format", form]) == 0
    assert "judge" in capsys.readouterr().out


@pytest.mark.parametrize(("gap", "deviation"), [(0.3, 1.0), (0.5, 2.0), (1.0, 1.0), (0.05, 0.7)])
def test_runs_on_items_of_their_own_need_what_a_test_of_two_groups_needs(gap, deviation):
    found = items_needed(gap, deviation * np.sqrt(2), 0.8, 0.05, groups=2)
    expected = TTestIndPower().solve_power(gap / deviation, power=0.8, alpha=0.05, ratio=1)
    assert found == max(10, int(np.ceil(expected)))


def test_a_change_of_the_prompt_is_not_taken_for_noise(tmp_path, runs, capsys):
    ledger = labelled(
        tmp_path,
        "prompts",
        *(bundle_of(run, "judge", judge_prompt_version=f"v{place}") for place, run in enumerate(runs[:2])),
        bundle_of(runs[2], "judge", judge_prompt_version="v1", run_id="again"),
    )
    assert main(["plan", str(ledger)]) == 2
    assert "choose one with --where judge_prompt_version=v1" in capsys.readouterr().err
    assert main(["plan", str(ledger), "--where", "judge_prompt_version=v1"]) == 0


def test_what_distinguishes_generators_is_no_difference_of_items():
    """A generator that is 6 better than another does not make items harder to tell apart."""
    rng = np.random.default_rng(4)
    levels = [Fraction(round(1000 * value), 1000) for value in rng.normal(0, 1, 20)]
    noise = [Fraction(round(300 * value), 1000) for value in rng.normal(0, 1, 80)]
    tables = [
        [[level + gap + noise[4 * place + 2 * at], level + gap + noise[4 * place + 2 * at + 1]]
         for place, level in enumerate(levels)]
        for at, gap in enumerate((0, 6))
    ]  # fmt: skip
    found = variances(tables)
    assert found is not None
    within, between, _ = found
    values = np.array([[[float(label) for label in row] for row in table] for table in tables])
    means = values.mean(axis=2)
    assert float(within) == pytest.approx(values.var(axis=2, ddof=1).mean())
    assert float(within + 2 * between) == pytest.approx(2 * means.var(axis=1, ddof=1).mean())
    assert 0.4 < float(between) < 2


def test_the_noise_share_of_pass_and_fail_has_the_interval_of_items_under_random_weights():
    """By another way: weights that are drawn; and a judge that never changed its mind may still do so."""
    rows = [[1, 1, 1]] * 12 + [[0, 0, 0]] * 5 + [[1, 1, 0]] * 2 + [[0, 0, 1]]
    labels = [[Fraction(label) for label in row] for row in rows]
    found = components([labels])
    values = np.array(rows, dtype=float)
    means, n = values.mean(axis=1), len(rows)
    noise = values.var(axis=1, ddof=1)
    whole = values.var(axis=1) + (means - means.mean()) ** 2 * n / (n - 1)
    weights = np.random.default_rng(3).exponential(size=(100_000, n + 1))
    expected = []
    for more, size, share in ((0.0, whole.max(), 0.025), (0.5, 0.25, 0.975)):
        ratios = (weights @ [*noise, more]) / (weights @ [*whole, size])
        expected.append(np.quantile(ratios, share))
    assert [float(end) for end in found["noise_share_ci95"]] == pytest.approx(expected, abs=0.005)
    steady = components([labels[:17]])
    assert steady["noise_share"] == 0
    assert [float(end) for end in steady["noise_share_ci95"]] == [0, pytest.approx(0.4, abs=0.25)]


@pytest.mark.parametrize("wanted", [PowerTarget(0.3), PowerTarget(margin=0.3)])
def test_a_test_that_assumes_nothing_but_the_scale_needs_more_items(ledger, wanted):
    spread, scale = (plan((ledger,), Options(), wanted, assume=assume) for assume in ("spread", "scale"))
    assert (spread["assume"], scale["assume"]) == ("spread", "scale")
    for one, other in zip(spread["results"], scale["results"], strict=True):
        for less, more in zip(one["plan"], other["plan"], strict=True):
            assert less["paired"] <= more["paired"]
            assert less["unpaired"] == more["unpaired"]


def test_a_margin_and_a_difference_are_not_asked_for_at_once(ledger, capsys):
    capsys.readouterr()
    assert main(["plan", str(ledger), "--margin", "0.3"]) == 0
    assert "for a system as good as its base to pass a margin of 0.3" in capsys.readouterr().out
    assert main(["plan", str(ledger), "--margin", "0.3", "--detect", "0.3"]) == 2
    assert "two questions" in capsys.readouterr().err


def test_a_margin_that_lets_everything_pass_is_refused_with_the_scale(ledger, capsys):
    capsys.readouterr()
    for asked in (["--margin", "10"], ["--margin", "12.5"], ["--detect", "10.5"]):
        assert main(["plan", str(ledger), *asked]) == 2
        assert "totals can differ by 10 at most; give a smaller one" in capsys.readouterr().err
    found = plan((ledger,), Options(), PowerTarget(margin=3.0))
    assert {row["measure"] for row in found["results"] if row["plan"] is None} == {
        row["measure"] for row in found["results"]
    } - {"total"}
    assert spec.violations("eval/plan.json", json.loads(dumps(found))) == []


def test_power_grows_with_items_and_reaches_what_was_asked_for_at_the_items_needed(ledger):
    for row in plan((ledger,), Options(), PowerTarget(0.3))["results"]:
        first = row["plan"][0]
        for name in ("paired", "paired_safe", "unpaired", "unpaired_safe"):
            powers = [line[name] for line in row["curve"]]
            assert powers == sorted(powers)
            for line in row["curve"]:
                assert (line[name] >= 0.8) == (line["items"] >= first[name]) or first[name] == 10
        for name in ("paired", "unpaired"):
            assert first[f"{name}_safe"] >= first[name]


def test_the_safe_variance_is_above_the_true_one_in_four_pilots_of_five():
    rng = np.random.default_rng(2)
    for items in (10, 40):
        squares = rng.chisquare(items - 1, 4000) / (items - 1)
        above = np.mean([Square(Fraction(square), items - 1).root(safe=True) >= 1 for square in squares])
        assert above == pytest.approx(0.8, abs=0.02)


def labels_of(values, generator):
    return {
        (f"q{place:03}", generator): [Fraction(round(1000 * label), 1000) for label in row]
        for place, row in enumerate(values)
    }


def test_panels_reduce_what_judges_have_alone_and_not_what_they_share():
    rng = np.random.default_rng(7)
    items, shared = 2000, rng.normal(0, 0.5, 2000)
    judges = []
    for _ in range(3):
        gap = shared + rng.normal(0, 0.8, items)
        labels = labels_of(rng.normal(0, 0.3, (items, 2)), "x")
        judges.append(labels | labels_of(gap[:, None] + rng.normal(0, 0.3, (items, 2)), "y"))
    found = plan_panels(judges, PowerTarget(0.2), Fraction(1))
    assert found is not None
    assert float(found["shared_sd"]) == pytest.approx(0.5, abs=0.05)
    assert float(found["own_sd"]) == pytest.approx(0.8, abs=0.05)
    for line in found["rows"]:
        square = 0.25 + (0.64 + 2 * 0.09) / line["judges"]
        assert line["paired"] == pytest.approx(items_needed(0.2, np.sqrt(square), 0.8, 0.05), rel=0.1)
    assert plan_panels(judges[:1], PowerTarget(0.2), Fraction(1)) is None


def test_the_design_effect_is_that_of_the_intraclass_correlation():
    """By an analysis of variance of statsmodels, on differences of two generators: 60 questions, 4 answers each."""
    rng = np.random.default_rng(3)
    questions = np.repeat(np.arange(60), 4)
    gaps = rng.normal(0, 0.6, 60)[questions] + rng.normal(0, 0.8, 240)
    labels = labels_of(np.zeros((240, 1)), "x") | labels_of(gaps[:, None], "y")
    found = cluster_effect(labels, {f"q{place:03}": str(question) for place, question in enumerate(questions)})
    assert found is not None
    frame = pd.DataFrame({"value": np.round(gaps, 3), "question": questions})
    table = anova_lm(smf.ols("value ~ C(question)", frame).fit())
    above, within = table["mean_sq"]["C(question)"], table["mean_sq"]["Residual"]
    icc = (above - within) / (above + 3 * within)
    assert float(found["icc"]) == pytest.approx(icc, abs=1e-5)
    assert float(found["design_effect"]) == pytest.approx(1 + 3 * icc, abs=1e-5)
    assert (found["clusters"], found["size"]) == (60, 4)
    alone = cluster_effect(labels, dict.fromkeys((f"q{place:03}" for place in range(240)), None))
    assert alone is None


def test_clusters_are_named_by_a_key_and_make_more_items_needed(tmp_path, runs, capsys):
    bundles = []
    for place, run in enumerate(runs):
        for half in (0, 1):
            part = {file: scores for at, (file, scores) in enumerate(sorted(run.items())) if at % 2 == half}
            bundles.append(bundle_of(part, "judge", run_id=f"r{place}{half}", factors={"half": str(half)}))
    ledger = labelled(tmp_path, "clusters", *bundles)
    capsys.readouterr()
    asked = ["plan", str(ledger), "--detect", "0.3", "--cluster", "factors.half", "--format", "json"]
    assert main(asked) == 0
    document = json.loads(capsys.readouterr().out)
    assert spec.violations("eval/plan.json", document) == []
    assert {row["clusters"]["clusters"] for row in document["results"]} == {2}
    assert main(["plan", str(ledger), "--detect", "0.3", "--cluster", "factors.half"]) == 0
    assert "Artifacts with one factors.half go together" in capsys.readouterr().out
