"""Simulated judges that differ in severity, noise and preference for their own model."""

import random
from fractions import Fraction

from normalizer.estimation.over_judges import JudgedValue, interval_over_judges
from normalizer.statistics.judge_scores import Label
from normalizer.statistics.severity import Estimate, JudgeModel, count_answers
from tools.interval_coverage import Study, holds, question

_SEVERITY = {"a": 0.5, "b": 0.0, "c": -0.2, "d": -0.3}
_BONUS = 1.0


def _holds(found: Estimate | None, truth: float) -> bool | None:
    return None if found is None else holds(found.interval(), truth)


def _severity(artifacts: int, noise: dict[str, float], asked: str, note: str, least: int = 4) -> Study:
    """Each artifact is judged by `least` of the judges or more; `noise` is the deviation of a judge, 1 if not given."""

    def draw(rng: random.Random) -> bool | None:
        answers = {}
        for number in range(artifacts):
            level = rng.gauss(6, 2)
            panel = rng.sample(sorted(_SEVERITY), rng.randint(least, len(_SEVERITY)))
            labels = [
                Label(name, False, level + _SEVERITY[name] + rng.gauss(0, noise.get(name, 1.0))) for name in panel
            ]
            answers[str(number)] = [labels]
        return _holds(JudgeModel(count_answers(answers)).severity_of(asked), _SEVERITY[asked])

    return question(f"severity of {note}, {len(_SEVERITY)} judges, {artifacts} artifacts", draw)


def _bonus(own: int, elsewhere: int) -> Study:
    """A judge beside harsh others on its own model's outputs, and beside milder ones elsewhere."""

    def draw(rng: random.Random) -> bool | None:
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
        return _holds(JudgeModel(count_answers(answers)).bonus_of("a"), _BONUS)

    return question(f"self-judging excess, {own} own and {elsewhere} other artifacts, other panels", draw)


def _over_judges(judges: int, items: int, severity: float) -> Study:
    """The mean over all judges like these, from a few of them; `severity` is the deviation between judges."""

    def draw(rng: random.Random) -> bool | None:
        effects = [rng.gauss(0, severity) for _ in range(judges)]
        labels = []
        for item in range(items):
            level = rng.gauss(6, 1)
            for judge, effect in enumerate(effects):
                total = Fraction(round(1000 * (level + effect + rng.gauss(0, 0.8))), 1000)
                labels.append(JudgedValue(str(item), str(judge), total))
        return holds(interval_over_judges(labels, (Fraction(0), Fraction(12))), 6.0)

    return question(f"mean over judges, {judges} judges that differ by {severity:g}, {items} items", draw)


STUDIES = [
    _severity(20, {}, "a", "a judge"),
    _severity(20, {"a": 2.0, "b": 0.3, "c": 0.3, "d": 0.3}, "a", "a noisy judge among quiet ones"),
    _severity(20, {"a": 0.3, "b": 0.3, "c": 0.3, "d": 2.0}, "a", "a quiet judge beside a noisy one"),
    _severity(12, {"a": 2.0, "b": 0.3, "c": 0.3, "d": 0.3}, "a", "a noisy judge, panels of 2 to 4", 2),
    _bonus(15, 30),
    _over_judges(2, 20, 0.5),
    _over_judges(3, 50, 0.5),
    _over_judges(3, 50, 1.0),
    _over_judges(5, 50, 0.5),
]
