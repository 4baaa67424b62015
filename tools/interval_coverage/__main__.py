"""Print the table: python -m tools.interval_coverage [--runs N] [--seed N] [--only TEXT].

A share in bold breaks its promise: an interval that holds the truth in less than 94 % of runs, an error that is made
more than one point more often than nominal, by more than the noise of the simulation (two standard errors).
"""

import argparse
import math
import random
from collections import Counter

from tools.interval_coverage import (
    Study,
    comparisons,
    differences,
    judge_effects,
    labels,
    plans,
    recipes,
    scores,
    skewed_labels,
)

STUDIES: list[Study] = [
    study
    for module in (comparisons, recipes, labels, skewed_labels, scores, differences, plans, judge_effects)
    for study in module.STUDIES
]


def simulate(study: Study, runs: int, seed: int) -> dict[str, tuple[int, int]]:
    """Return for each question how often the answer was yes, and how often there was one."""
    yes: Counter[str] = Counter()
    told: Counter[str] = Counter()
    for run in range(runs):
        for name, answer in study.draw(random.Random(f"{seed}/{run}")).items():
            if answer is not None:
                told[name] += 1
                yes[name] += answer
    return {name: (yes[name], told[name]) for name in study.questions}


def row_of(name: str, nominal: str, yes: int, of: int) -> str:
    """Return the row of a question, given how often the answer was yes, and how often there was one."""
    share = yes / max(of, 1)
    # The share of one more yes and one more no, so that there is an error at 0 and 1, too.
    error = math.sqrt((yes + 1) * (of - yes + 1) / (of + 2) ** 3)
    limit = float(nominal.removeprefix("at most").removesuffix("%")) / 100 if nominal[-1] == "%" else None
    broken = limit is not None and (
        share - 2 * error > limit + 0.01
        if nominal.startswith("at most")
        else limit == 0.95 and share + 2 * error < limit - 0.01
    )
    shown = f"**{100 * share:.1f} %**" if broken else f"{100 * share:.1f} %"
    return f"| {name} | {nominal} | {shown} | {100 * error:.1f} | {of} |"


def main() -> None:
    """Print a row for each question."""
    parser = argparse.ArgumentParser(prog="python -m tools.interval_coverage", description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="only studies with a question that has this in it")
    given = parser.parse_args()
    print("| simulated | nominal | observed | standard error | runs |\n| --- | ---: | ---: | ---: | ---: |", flush=True)
    for study in STUDIES:
        if any(given.only in name for name in study.questions):
            for name, (yes, of) in simulate(study, given.runs, given.seed).items():
                print(row_of(name, study.questions[name], yes, of), flush=True)


if __name__ == "__main__":
    main()
