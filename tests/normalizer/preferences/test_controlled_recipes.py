"""Scores at equal length and at equal style, against libraries that know nothing of ours."""

import json
import math
import random
from fractions import Fraction
from typing import Any

import contract_spec as spec
import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import t
from sklearn.linear_model import LogisticRegression

from normalizer.aggregate.recipes import Recipe
from normalizer.errors import CannotRun
from normalizer.preferences.comparisons import Comparison
from normalizer.preferences.group_preferences import PreferenceOptions, preferences
from normalizer.preferences.logistic import FOLDS, STRENGTHS, choose_strength, fit_lasso
from normalizer.preferences.recipes import describe, score_pairs
from normalizer.tables.formats import dumps
from tests.support.comparing import compared

ITEMS = 120


def comparison(item, share, lengths=(1, 1), name="x", place=0):
    half = Fraction(1, 2)
    winner = "draw" if share == half else "a" if share > half else "b"
    return Comparison(item, name, "base", winner, share, "a", "judge", 0, None, lengths, False, place)


def odds(value):
    return 1 / (1 + math.exp(-value))


@pytest.fixture(scope="module")
def duel():
    """Graded verdicts that favour the longer answer and depend on how hard the item is."""
    rng = random.Random(5)
    found = []
    for place in range(ITEMS):
        lengths = rng.randint(200, 900), rng.randint(200, 900)
        chance = odds(0.7 + rng.gauss(0, 0.8) + (lengths[0] - lengths[1]) / 300)
        share = Fraction(round(100 * min(max(chance + rng.uniform(-0.2, 0.2), 0.01), 0.99)), 100)
        found.append(comparison(f"q{place}", share, lengths, place=place))
    return found


def repeated(design, outcomes, weights):
    """Each row twice, as a win and as a loss with the shares as weights: how scikit-learn takes outcomes in between."""
    rows = np.vstack([design, design])
    labels = np.concatenate([np.ones(len(outcomes)), np.zeros(len(outcomes))])
    return rows, labels, np.concatenate([weights * outcomes, weights * (1 - outcomes)])


def by_scikit_learn(design, outcomes, weights, strength):
    model = LogisticRegression(
        penalty="l1", solver="liblinear", C=strength, fit_intercept=False, tol=1e-10, max_iter=10000
    )
    rows, labels, shares = repeated(design, outcomes, weights)
    return model.fit(rows, labels, sample_weight=shares).coef_[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(3))
def test_coefficients_with_an_l1_penalty_are_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    design = np.column_stack([rng.normal(size=80), rng.normal(size=80), np.ones(80)])
    outcomes, weights = rng.random(80), rng.choice([0.1, 1.0], 80)
    for strength in (STRENGTHS[3], STRENGTHS[4], STRENGTHS[6]):
        found = fit_lasso(design, outcomes, weights, strength)
        assert found == pytest.approx(by_scikit_learn(design, outcomes, weights, strength), abs=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_the_strength_is_the_one_that_scikit_learn_predicts_best_with():
    rng = np.random.default_rng(11)
    design = np.column_stack([rng.normal(size=60), np.ones(60)])
    outcomes, weights = 1 / (1 + np.exp(-design @ [0.4, 0.1] - rng.normal(size=60))), np.ones(60)
    folds = np.arange(60)[::-1] % FOLDS
    losses = []
    for strength in STRENGTHS:
        lost = 0.0
        for fold in range(FOLDS):
            beta = by_scikit_learn(design[folds != fold], outcomes[folds != fold], weights[folds != fold], strength)
            values, shares = design[folds == fold] @ beta, outcomes[folds == fold]
            lost += float((np.logaddexp(0, values) - shares * values).mean())
        losses.append(lost)
    assert choose_strength(design, outcomes, weights) == STRENGTHS[int(np.argmin(losses))]


def controlled(duel, rows=()):
    recipe = Recipe("alpaca-eval-lc", tuple(rows))
    return describe(recipe)["variant"], score_pairs(recipe, {("x", "base"): duel})["x", "base"]


def test_the_files_decide_which_model_of_alpaca_eval_is_fitted(duel):
    hard = [{"index": str(place), "instruction_difficulty": str((place % 7 - 3) / 3)} for place in range(ITEMS)]
    versions = [{**row, "std_delta_len": "0.5", "preference": "0.5"} for row in hard]
    plain, noted, pulled = (controlled(duel, rows) for rows in ((), hard, versions))
    names = [variant for variant, _ in (plain, noted, pulled)]
    assert names == ["length_controlled_minimal", "length_controlled_noreg", "length_controlled_v1"]
    assert set(plain[1]["coefficients"]) == {"length", "constant"}
    assert set(noted[1]["coefficients"]) == {"length", "difficulty", "constant"}
    # Verdicts on versions of the baseline that say nothing pull the effect of length to 0.
    assert abs(pulled[1]["coefficients"]["length"]) < abs(noted[1]["coefficients"]["length"])
    by_name = [{"item": f"q{row['index']}", "instruction_difficulty": row["instruction_difficulty"]} for row in hard]
    assert controlled(duel, by_name) == noted
    with pytest.raises(CannotRun, match="no instruction_difficulty for item q"):
        controlled(duel, hard[:-1])
    with pytest.raises(CannotRun, match="no number in instruction_difficulty"):
        controlled(duel, [{"index": "0"}])


def test_the_score_is_the_mean_prediction_at_equal_lengths_with_an_interval_around_it(duel):
    _, found = controlled(duel)
    gaps = np.array([one.lengths[1] - one.lengths[0] for one in duel])
    design = np.column_stack([np.tanh(gaps / gaps.std(ddof=1)), np.ones(ITEMS)])
    shares = np.array([float(one.share) for one in duel])
    beta = fit_lasso(design, shares, np.ones(ITEMS), choose_strength(design, shares, np.ones(ITEMS)))
    assert float(found["score"]) == pytest.approx(100 * odds(beta[1]), abs=1e-6)
    assert found["ci95"][0] < found["score"] < found["ci95"][1]
    raw = 100 * float(shares.mean())
    assert abs(float(found["score"]) - raw) < 15


def test_few_items_have_no_score_at_equal_lengths_and_answers_without_lengths_are_refused(duel):
    assert controlled(duel[:9])[1]["score"] is None
    with pytest.raises(CannotRun, match="needs the lengths"):
        controlled([one._replace(lengths=None) for one in duel])


@pytest.fixture(scope="module")
def styled():
    """Verdicts on two models against one, their answers' styles, and the verdict's number of wins."""
    rng = random.Random(8)
    pairs: dict[tuple[str, str], list[Comparison]] = {("x", "base"): [], ("y", "base"): []}
    rows: list[dict[str, Any]] = []

    def style(generator, item):
        counts: dict[str, Any] = {"token_len": rng.randint(50, 900)}
        counts |= {
            name: {"one": rng.randint(0, 9), "two": rng.randint(0, 3)} for name in ("header_count", "list_count")
        }
        counts["bold_count"] = {"**": rng.randint(0, 12)}
        rows.append({"uid": item, "model": generator, "metadata": counts})
        return counts["token_len"]

    for place in range(60):
        item = f"q{place}"
        base = style("base", item)
        for name, better in (("x", 0.5), ("y", -0.4)):
            chance = odds(better + (style(name, item) - base) / 400)
            for _ in range(2):
                won, strong = rng.random() < chance, rng.random() < 0.3
                share = Fraction(1, 2) if rng.random() < 0.1 else Fraction(2 + (1 if won else -1) * (1 + strong), 4)
                pairs[name, "base"].append(comparison(item, share, name=name))
    return pairs, rows


def test_scores_at_equal_style_are_those_of_a_general_linear_model(styled):
    pairs, rows = styled
    found = score_pairs(Recipe("arena-hard-style", tuple(rows)), pairs)
    counts = {
        (row["uid"], row["model"]): [
            float(value if isinstance(value, int) else sum(value.values())) for value in row["metadata"].values()
        ]
        for row in rows
    }
    gaps: list[list[float]] = []
    models: list[list[float]] = []
    outcomes: list[float] = []
    groups: list[int] = []
    for (name, _), members in pairs.items():
        for one in members:
            a, b = np.array(counts[one.item, name]), np.array(counts[one.item, "base"])
            dense = a[1:] / (a[0] + 1), b[1:] / (b[0] + 1)
            gap = [(a[0] - b[0]) / (a[0] + b[0]), *((dense[0] - dense[1]) / (dense[0] + dense[1] + 1))]
            for _ in range(3 if one.share in (0, 1) else 1):
                gaps.append(gap)
                models.append([float(name == "x"), float(name == "y")])
                outcomes.append(float(one.score))
                groups.append(int(one.item[1:]))
    terms = np.array(gaps)
    design = np.hstack([np.array(models), (terms - terms.mean(axis=0)) / terms.std(axis=0, ddof=1)])
    model = sm.GLM(outcomes, design, family=sm.families.Binomial())
    fitted = model.fit(cov_type="cluster", cov_kwds={"groups": np.array(groups), "use_correction": False}, tol=1e-12)
    for place, name in enumerate(("x", "y")):
        score = found[name, "base"]
        assert float(score["score"]) == pytest.approx(100 * odds(fitted.params[place]), abs=1e-5)
        half = float(t.ppf(0.975, 54)) * fitted.bse[place] * math.sqrt(60 / 54)  # 60 items less 6 coefficients
        ends = [100 * odds(fitted.params[place] + side * half) for side in (-1, 1)]
        assert [float(end) for end in score["ci95"]] == pytest.approx(ends, abs=1e-4)
        assert [float(each) for each in score["coefficients"].values()] == pytest.approx(fitted.params[2:], abs=1e-5)


def test_a_style_that_is_missing_or_has_no_baseline_is_refused(styled):
    pairs, rows = styled
    with pytest.raises(CannotRun, match="no answer of y to q59"):
        score_pairs(Recipe("arena-hard-style", tuple(rows[:-1])), pairs)
    with pytest.raises(CannotRun, match="name it with --baseline"):
        score_pairs(Recipe("arena-hard-style", tuple(rows)), {**pairs, ("x", "y"): []})
    with pytest.raises(CannotRun, match="has no metadata with token_len"):
        score_pairs(Recipe("arena-hard-style", ({"uid": "q0", "model": "x"},)), pairs)


def test_the_document_of_a_score_at_equal_lengths_is_one_of_the_schema(tmp_path, duel):
    entries = [
        {
            "item": one.item,
            "a": one.a,
            "b": one.b,
            "verdict": float(2 - one.share),
            "length": {"a": one.lengths[0], "b": one.lengths[1]},
        }
        for one in duel
    ]
    ledger = compared(tmp_path, entries)
    rows = tuple({"index": place, "instruction_difficulty": place % 5} for place in range(ITEMS))
    document = preferences((ledger,), PreferenceOptions(recipe=Recipe("alpaca-eval-lc", rows), baseline="base"))
    assert spec.violations("eval/preferences.json", json.loads(dumps(document))) == []
    [pair] = document["groups"][0]["pairs"]
    assert float(pair["recipe"]["score"]) == pytest.approx(float(controlled(duel, rows)[1]["score"]), abs=1e-6)
