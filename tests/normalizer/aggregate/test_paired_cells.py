"""Levels compared on an engine give the numbers of the plain definition, which goes from record to record."""

from collections import defaultdict
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from normalizer.aggregate.summary import Options
from normalizer.estimation.over_judges import JudgedValue, gather_panels, interval_over_judges
from normalizer.statistics.contrasts import Contrast, compare
from normalizer.statistics.spread import describe_differences, ends, mean_of
from tests.support.bundles import DIMENSIONS
from tests.support.studies import ledger_of

REACH = 2


class Row(NamedTuple):
    """A record; keys without a level are None."""

    judge: str
    generator: str
    artifact: str
    scores: tuple[int, ...]
    version: str | None = None
    question: str | None = None
    variant: str | None = None
    run: int = 0

    def level(self, key: str) -> str | None:
        named = {"judge_model": self.judge, "generator_model": self.generator, "artifact": self.artifact}
        return named[key] if key in named else getattr(self, key.removeprefix("factors."))


def bundle_of(row: Row) -> dict[str, Any]:
    factors = {name: getattr(row, name) for name in ("version", "question", "variant")}
    return {
        "run_id": f"r{row.run}",
        "protocol_version": "p-1",
        "judge_model": row.judge,
        "generator_model": row.generator,
        "phase": 1,
        "self_judged": row.judge == row.generator,
        "factors": {name: level for name, level in factors.items() if level is not None},
        "per_file_scores": [{"file": row.artifact, "scores": dict(zip(DIMENSIONS, row.scores, strict=True))}],
    }


def describe_plainly(rows: list[Row], wanted: Contrast, item: str) -> list[dict[str, Any]]:
    """What a document says of every two levels in each measure, dimensions first."""
    records = defaultdict(list)
    for row in rows:
        judge = None if "judge_model" in wanted.by[:-1] else row.judge
        cell = (row.level(wanted.key), tuple(map(row.level, wanted.paired_by)), judge)
        records[cell].append(row)
    levels = sorted({level for level, _, _ in records if level is not None})
    blocks = sorted({block for level, block, _ in records if level is not None}, key=str)
    means, own = {}, {}
    for cell, of_cell in records.items():
        units = defaultdict(list)
        for row in of_cell:
            units[row.artifact, row.generator].append([*row.scores, sum(row.scores)])
        of_units = [[mean_of(list(map(Fraction, each))) for each in zip(*unit, strict=True)] for unit in units.values()]
        means[cell] = [mean_of(each) for each in zip(*of_units, strict=True)]
        own[cell] = all(row.judge == row.generator for row in of_cell)
    found = []
    for place, (one, other) in ((place, pair) for place in range(6) for pair in combinations(levels, 2)):
        gaps, items, labels, unpaired = [], [], [], 0
        for number, block in enumerate(blocks):
            judges = [{judge for level, at, judge in records if (level, at) == (side, block)} for side in (one, other)]
            both = judges[0] & judges[1]
            if all(own[one, block, judge] or own[other, block, judge] for judge in both):
                unpaired += bool(judges[0] | judges[1])
                continue
            each = {judge: means[one, block, judge][place] - means[other, block, judge][place] for judge in both}
            named = block[wanted.paired_by.index(item)] or None
            gaps.append(mean_of(list(each.values())))
            items.append(number if named is None else named)
            labels += [JudgedValue(items[-1], judge, gap) for judge, gap in each.items() if judge is not None]
        reach = Fraction(REACH * (5 if place == 5 else 1))
        told, tested = describe_differences(gaps, items, reach, "pair")
        numbers = {"levels": [one, other], "n": len(gaps), "items": len(set(items)), "unpaired": unpaired}
        these = tested.interval if tested is not None and told["ci95"] is not None else None
        over = interval_over_judges(gather_panels(labels), (-reach, reach), these) if labels else None
        numbers |= {"difference": told["mean"], **{name: told[name] for name in ("sd", "ci95", "p")}}
        found.append({**numbers, "ci95_over_judges": None if over is None else ends(over)})
    return found


def check(rows: list[Row], wanted: Contrast) -> None:
    with TemporaryDirectory() as folder:
        document = compare((ledger_of(Path(folder), list(map(bundle_of, rows))),), Options(), wanted)
    expected = describe_plainly(rows, wanted, document["item"])
    pairs = len(expected) // 6
    told = document["contrasts"][pairs:] + document["contrasts"][:pairs]
    assert [{name: each[name] for name in model} for each, model in zip(told, expected, strict=True)] == expected


SCORES = st.tuples(*[st.integers(0, REACH)] * 5)
JUDGES = st.sampled_from(("j1", "j2", "g1"))


@st.composite
def on_artifacts(draw: st.DrawFn) -> Row:
    generator, artifact = draw(st.sampled_from(("g1", "g2", "g3"))), draw(st.sampled_from(("a0", "a1", "a2", "a3")))
    return Row(draw(JUDGES), generator, artifact, draw(SCORES), run=draw(st.integers(0, 1)))


@st.composite
def on_factors(draw: st.DrawFn) -> Row:
    version = draw(st.sampled_from(("new", "old", None)))
    question, variant = draw(st.sampled_from(("q0", "q1", "", None))), draw(st.sampled_from(("v0", "v1")))
    name = f"{version}-{question}-{variant}-{draw(st.integers(0, 2))}"
    return Row(draw(JUDGES), draw(st.sampled_from(("g1", "g2"))), name, draw(SCORES), version, question, variant)


def different(rows: list[Row]) -> list[Row]:
    """One record of each unit of a run."""
    return list({row[:3] + row[4:]: row for row in rows}.values())


@settings(max_examples=25)
@given(rows=st.lists(on_artifacts(), max_size=30), key=st.sampled_from(("generator_model", "judge_model")))
def test_levels_are_compared_on_artifacts_as_defined(rows, key):
    same = [("j1", "g1", (0, 1, 2, 0, 1)), ("j1", "g2", (1, 1, 1, 1, 1)), ("j2", "g2", (0, 0, 0, 0, 0))]
    rows += [Row(judge, generator, "a9", scores) for judge, generator, scores in same]
    check(different(rows), Contrast(key, ("artifact",)))


@settings(max_examples=25)
@given(rows=st.lists(on_factors(), max_size=30), item=st.sampled_from((None, "factors.question")))
def test_levels_are_compared_on_blocks_of_several_keys_as_defined(rows, item):
    rows += [Row("j1", "g2", f"{name}-q0-v0-9", (1, 2, 0, 1, 2), name, "q0", "v0") for name in ("new", "old")]
    check(different(rows), Contrast("factors.version", ("factors.variant", "factors.question"), item))


def test_cells_with_too_many_different_numbers_of_units_for_sums_are_compared_as_defined():
    primes = [n for n in range(2, 110) if all(n % least for least in range(2, n))]
    rows = [
        Row(judge, "g", f"{version}-{n}-{number}", (number % 3, n % 3, 1, place, 0), version, f"q{n % 5}", str(n))
        for n in primes
        for place, (judge, version) in enumerate((("j1", "new"), ("j1", "old"), ("j2", "new")))
        for number in range(n if version == "new" else 2)
    ]
    check(rows, Contrast("factors.version", ("factors.variant", "factors.question"), "factors.question"))
