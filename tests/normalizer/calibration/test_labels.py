"""Labels are the means of the records of a judge about an item, in all and in each group."""

from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from normalizer.aggregate.eligibility import Levels
from normalizer.aggregate.summary import Options, open_on_engine, query_of
from normalizer.aggregate.units import prepare_records
from normalizer.calibration.labels import labels
from tests.support.studies import Verdict, bundles_of, ledger_of, mean

VERDICTS = st.builds(
    Verdict,
    st.sampled_from(("j1", "j2", "g1")),
    st.sampled_from(("g1", "g2")),
    st.sampled_from(("a1", "a2", "a3")),
    st.tuples(*[st.integers(0, 2)] * 5),
    phase=st.just(1),
    question=st.just("q1"),
    protocol=st.just("p-1"),
    run=st.sampled_from(("r1", "r2")),
)


def average(rows):
    return tuple(mean(list(map(Fraction, column))) for column in zip(*rows, strict=True))


@settings(max_examples=25)
@given(st.lists(VERDICTS, min_size=1, max_size=20, unique_by=lambda each: (*each[:3], each.run)))
def test_labels_are_the_means_of_the_records_that_they_are_made_of(verdicts):
    by, eligible = ("judge_model", "run_id"), Options().rules.condition()
    with TemporaryDirectory() as folder:
        options = Options(by=by)
        with open_on_engine((ledger_of(Path(folder), bundles_of(verdicts)),), options) as (engine, given_ledgers):
            query = query_of(given_ledgers, options)
            with prepare_records(engine, query, given_ledgers, diagnostic=False) as query:
                found = labels(engine, query, engine.table("judged", query.select_judged(eligible)))
    records: dict[Levels, dict[Any, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for each in verdicts:
        for levels in ((), (each.judge, each.run)):
            records[levels][(each.artifact, each.generator), each.judge].append([*each.scores, each.total])
    means = {
        levels: {label: average(rows) for label, rows in of_levels.items()} for levels, of_levels in records.items()
    }
    flat = {
        levels: {(item, judge): values for item, given_labels in of.items() for judge, values in given_labels.items()}
        for levels, of in {(): found.by_item, **found.by_group}.items()
    }
    assert flat == means
    assert list(found.by_item) == sorted(found.by_item)
    assert all(list(given_labels) == sorted(given_labels) for given_labels in found.by_item.values())
    assert found.own == {label for label in means[()] if label[0][1] == label[1]}
