"""Print the table: python -m tools.interval_coverage [--runs N] [--seed N] [--only TEXT].

A share in bold breaks its promise: an interval that holds the truth in less than 94 % of runs, an error that is made
more than one point more often than nominal, by more than the noise of the simulation (two standard errors). The last
column has the narrowest known method that keeps the promise on the same data, or else the usual one, with its mean
width and the share that hold the truth.
"""

import argparse
import math
import random
from collections import defaultdict

from tools.interval_coverage import (
    Held,
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

_LEAST = 0.94
"""The least share of intervals that hold the truth."""
HEAD = """\
| simulated | nominal | observed | standard error | runs | width | best known |
| --- | ---: | ---: | ---: | ---: | ---: | --- |"""
STUDIES: list[Study] = [
    study
    for module in (comparisons, recipes, labels, skewed_labels, scores, differences, plans, judge_effects)
    for study in module.STUDIES
]


class Tally:
    """How often the answer to a question was yes, and how wide its intervals were, beside those of other methods."""

    def __init__(self) -> None:
        self.yes = self.of = 0
        self.width = 0.0
        self.others: dict[str, list[float]] = defaultdict(lambda: [0, 0.0, 0])
        """Of each method: how often it held the truth, the sum of its widths, and how often it gave an interval."""

    def add(self, answer: bool | Held) -> None:
        """Count an answer."""
        self.of += 1
        if isinstance(answer, bool):
            self.yes += answer
            return
        self.yes += answer.holds
        self.width += answer.width
        for name, (held, width) in answer.others.items():
            found = self.others[name]
            found[0], found[1], found[2] = found[0] + held, found[1] + width, found[2] + 1

    def tell_width(self) -> str:
        """Return the mean width."""
        return f"{self.width / self.of:.3g}" if self.width else "-"

    def tell_best(self) -> str:
        """Return the narrowest method that holds as often as promised, else the usual one: its width and its share.

        A run in which a method gives no interval counts as one in which it does not hold the truth.
        """
        shares = {name: held / self.of for name, (held, _, _) in self.others.items()}
        widths = {name: total / times for name, (_, total, times) in self.others.items()}
        good = [name for name, share in shares.items() if share + 2 * _error(share * self.of, self.of) >= _LEAST]
        if not self.others:
            return "-"
        name = min(good, key=lambda each: widths[each]) if good else next(iter(self.others))
        return f"{name} {widths[name]:.3g} ({100 * shares[name]:.0f} %)"


def simulate(study: Study, runs: int, seed: int) -> dict[str, Tally]:
    """Return what became of each question."""
    tallies = {name: Tally() for name in study.questions}
    for run in range(runs):
        for name, answer in study.draw(random.Random(f"{seed}/{run}")).items():
            if answer is not None:
                tallies[name].add(answer)
    return tallies


def _error(yes: float, of: int) -> float:
    """Return the standard error of a share, with one more yes and one more no, so that there is one at 0 and 1, too."""
    return math.sqrt((yes + 1) * (of - yes + 1) / (of + 2) ** 3)


def row_of(name: str, nominal: str, yes: int, of: int, more: tuple[str, str] = ("-", "-")) -> str:
    """Return the row of a question, given how often the answer was yes, how often there was one, and both widths."""
    share, error = yes / max(of, 1), _error(yes, of)
    limit = float(nominal.removeprefix("at most").removesuffix("%")) / 100 if nominal[-1] == "%" else None
    broken = limit is not None and (
        share - 2 * error > limit + 0.01
        if nominal.startswith("at most")
        else limit == 0.95 and share + 2 * error < _LEAST
    )
    shown = f"**{100 * share:.1f} %**" if broken else f"{100 * share:.1f} %"
    return f"| {name} | {nominal} | {shown} | {100 * error:.1f} | {of} | {more[0]} | {more[1]} |"


def main() -> None:
    """Print a row for each question."""
    parser = argparse.ArgumentParser(prog="python -m tools.interval_coverage", description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="only studies with a question that has this in it")
    given = parser.parse_args()
    print(HEAD, flush=True)
    for study in STUDIES:
        if any(given.only in name for name in study.questions):
            for name, tally in simulate(study, given.runs, given.seed).items():
                more = tally.tell_width(), tally.tell_best()
                print(row_of(name, study.questions[name], tally.yes, tally.of, more), flush=True)


if __name__ == "__main__":
    main()
