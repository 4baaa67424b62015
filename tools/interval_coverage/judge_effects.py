"""Simulated judges that differ in severity, noise and preference for their own model."""

import random
from fractions import Fraction
from math import sqrt

import numpy as np
from scipy import stats

from normalizer.estimation.clusters import gather
from normalizer.estimation.over_judges import JudgedValue, gather_panels, interval_over_judges
from normalizer.statistics.generalizability import describe_generators
from normalizer.statistics.judge_scores import Label
from normalizer.statistics.severity import Estimate, JudgeModel, count_answers
from normalizer.statistics.spread import describe_differences
from tools.interval_coverage import Held, Study, holds, question
from tools.interval_coverage.known_methods import of_mean, student

Place = tuple[str, bool]
"""A judge, and whether its bonus for its own model is meant."""
_SEVERITY = {"a": 0.5, "b": 0.0, "c": -0.2, "d": -0.3}
_BONUS = 1.0


def _hold_effect(found: Estimate | None, truth: float, model: JudgeModel, weights: dict[Place, float]) -> Held | None:
    """Return whether the interval of an effect holds the truth, beside that of least squares with one noise for all."""
    if found is None:
        return None
    contrast = np.zeros(len(model.place))
    for name, weight in weights.items():
        contrast[model.place[name]] = weight
    freedom = model.labels - model.answers - model.rank
    square = float(contrast @ model.inverse @ contrast) * model.residual / freedom
    half = float(stats.t.ppf(0.975, freedom)) * sqrt(square)
    return holds(found.interval(), truth, {"least squares": (found.value - half, found.value + half)})


def _severity(artifacts: int, noise: dict[str, float], asked: str, note: str, least: int = 4) -> Study:
    """Each artifact is judged by `least` of the judges or more; `noise` is the deviation of a judge, 1 if not given."""

    def draw(rng: random.Random) -> Held | None:
        answers = {}
        for number in range(artifacts):
            level = rng.gauss(6, 2)
            panel = rng.sample(sorted(_SEVERITY), rng.randint(least, len(_SEVERITY)))
            labels = [
                Label(name, False, level + _SEVERITY[name] + rng.gauss(0, noise.get(name, 1.0))) for name in panel
            ]
            answers[str(number)] = [labels]
        model = JudgeModel(count_answers(answers))
        weights: dict[Place, float] = {(name, False): (name == asked) - 1 / len(_SEVERITY) for name in _SEVERITY}
        return _hold_effect(model.severity_of(asked), _SEVERITY[asked], model, weights)

    return question(f"severity of {note}, {len(_SEVERITY)} judges, {artifacts} artifacts", draw)


def _rarely_wrong(artifacts: int, share: float, error: float) -> Study:
    """A judge like the two others, but for a rare large error."""
    names = ("a", "b", "c")

    def draw(rng: random.Random) -> Held | None:
        answers = {}
        for number in range(artifacts):
            level = rng.gauss(6, 2)
            errors = {name: rng.gauss(0, 0.5) for name in names}
            errors["a"] -= error if rng.random() < share else 0
            answers[str(number)] = [[Label(name, False, level + errors[name]) for name in names]]
        model = JudgeModel(count_answers(answers))
        weights: dict[Place, float] = {(name, False): (name == "a") - 1 / len(names) for name in names}
        return _hold_effect(model.severity_of("a"), -share * error * 2 / 3, model, weights)

    return question(f"severity of a judge that errs by {error:g} in {100 * share:g} %, {artifacts} artifacts", draw)


def _bonus(own: int, elsewhere: int) -> Study:
    """A judge beside harsh others on its own model's outputs, and beside milder ones elsewhere."""

    def draw(rng: random.Random) -> Held | None:
        answers = {}
        for number in range(own + elsewhere):
            mine = number < own
            level = rng.gauss(6, 2)
            panel = ("a", "c", "d") if mine else ("a", *rng.sample(["b", "c", "d"], 2))
            answers[str(number)] = [
                [
                    Label(
                        name,
                        mine and name == "a",
                        level + _SEVERITY[name] + _BONUS * (mine and name == "a") + rng.gauss(0, 1),
                    )
                    for name in panel
                ]
            ]
        model = JudgeModel(count_answers(answers))
        return _hold_effect(model.bonus_of("a"), _BONUS, model, {("a", True): 1.0})

    return question(f"self-judging excess, {own} own and {elsewhere} other artifacts, other panels", draw)


def _over_judges(judges: int, items: int, severity: float) -> Study:
    """The mean over all judges like these, from a few of them; `severity` is the deviation between judges."""

    def draw(rng: random.Random) -> Held | None:
        effects = [rng.gauss(0, severity) for _ in range(judges)]
        labels = []
        for item in range(items):
            level = rng.gauss(6, 1)
            for judge, effect in enumerate(effects):
                total = Fraction(round(1000 * (level + effect + rng.gauss(0, 0.8))), 1000)
                labels.append(JudgedValue(str(item), str(judge), total))
        means = [sum(each.value for each in labels if each.judge == str(at)) / items for at in range(judges)]
        others = {"t of judges' means": student([float(mean) for mean in means])}
        return holds(interval_over_judges(gather_panels(labels), (Fraction(0), Fraction(12))), 6.0, others)

    return question(f"mean over judges, {judges} judges that differ by {severity:g}, {items} items", draw)


def _gaps(name: str, artifacts: int, answers: int, steps: dict[int, int]) -> Study:
    """Differences of totals on artifacts that both sides judged; `steps` has how many percent differ by how much."""
    truth = sum(step * share for step, share in steps.items()) / 100

    def draw(rng: random.Random) -> Held | None:
        gaps, items = [], []
        for artifact in range(artifacts):
            shared = rng.choices(list(steps), list(steps.values()))[0]
            for _ in range(answers):  # half of the answers are as the artifact is
                own = rng.choices(list(steps), list(steps.values()))[0]
                gaps.append(Fraction(shared if rng.random() < 0.5 else own))
                items.append(str(artifact))
        found, _ = describe_differences(gaps, items, Fraction(10), "shared artifact")
        return holds(found["ci95"], truth, of_mean(gather(gaps, items), (-10, 10)))

    told = f"{artifacts} artifacts" + (f" with {answers} answers" if answers > 1 else "")
    return question(f"{name}, {told}", draw)


def _adjusted(artifacts: int, bridges: int) -> Study:
    """The mean of a generator that a harsh panel judged; a mild judge also judged `bridges` of its answers."""

    def draw(rng: random.Random) -> Held | None:
        answers = {}
        plain = []
        for number in range(artifacts):
            level = rng.gauss(6, 1)
            panels = [["c", "d", *(["a"] if number < bridges else [])], ["a", "b"]]
            both = [
                [
                    Label(name, False, Fraction(round(100 * (level + _SEVERITY[name] + rng.gauss(0, 1))), 100))
                    for name in panel
                ]
                for panel in panels
            ]
            answers[str(number)] = both
            plain.append(sum(float(label.total) - _SEVERITY[label.judge] for label in both[0]) / len(both[0]))
        items = count_answers(answers)
        rows = describe_generators(items, JudgeModel(items), (Fraction(0), Fraction(10)))
        [row] = [row for row in rows if row["generator"] == "0"]
        return holds(row["adjusted_ci95"], 6.0, {"t, severity known": student(plain)})

    return question(f"adjusted mean, {artifacts} items, {bridges} of them judged by both panels", draw)


STUDIES = [
    _gaps("distance on own outputs", 12, 2, {0: 60, 1: 25, 2: 10, 6: 5}),
    _gaps("distance elsewhere", 20, 1, {0: 80, -1: 15, -8: 5}),
    _gaps("drift between two prompts", 20, 1, {0: 90, -3: 10}),
    _adjusted(30, 30),
    _adjusted(30, 6),
    _severity(20, {}, "a", "a judge"),
    _severity(20, {"a": 2.0, "b": 0.3, "c": 0.3, "d": 0.3}, "a", "a noisy judge among quiet ones"),
    _severity(20, {"a": 0.3, "b": 0.3, "c": 0.3, "d": 2.0}, "a", "a quiet judge beside a noisy one"),
    _severity(12, {"a": 2.0, "b": 0.3, "c": 0.3, "d": 0.3}, "a", "a noisy judge, panels of 2 to 4", 2),
    _rarely_wrong(20, 0.05, 6),
    _bonus(15, 30),
    _over_judges(2, 20, 0.5),
    _over_judges(3, 50, 0.5),
    _over_judges(3, 50, 1.0),
    _over_judges(5, 50, 0.5),
]
