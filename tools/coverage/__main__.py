"""Print the table: python -m tools.coverage [--runs N] [--seed N] [--only TEXT]."""

import argparse
import random
from collections import Counter

from tools.coverage import Study, comparisons, judge_effects, labels, scores

STUDIES: list[Study] = [*comparisons.STUDIES, *labels.STUDIES, *scores.STUDIES, *judge_effects.STUDIES]


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


def main() -> None:
    """Print a row for each question."""
    parser = argparse.ArgumentParser(prog="python -m tools.coverage", description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="only studies with a question that has this in it")
    given = parser.parse_args()
    print("| simulated | nominal | observed | runs |\n| --- | ---: | ---: | ---: |", flush=True)
    for study in STUDIES:
        if any(given.only in name for name in study.questions):
            for name, (yes, of) in simulate(study, given.runs, given.seed).items():
                print(f"| {name} | {study.questions[name]} | {100 * yes / max(of, 1):.1f} % | {of} |", flush=True)


if __name__ == "__main__":
    main()
