"""Sums are exact on every scale. An engine keeps the lines of a ledger, parsed once, and nothing of an ended call."""

from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import example, settings
from hypothesis import given as drawn
from hypothesis import strategies as st

from normalizer.aggregate.engines.on_duckdb import DuckDB
from normalizer.aggregate.summary import Options, query_of, summarize
from normalizer.aggregate.units import Numbers, prepare_records
from normalizer.batch.run import run
from normalizer.documents.settings import load
from normalizer.ledger import open_ledgers
from normalizer.statistics.agreement import agreement_of
from normalizer.statistics.sensitivity import find_sensitivity
from tests.support.bundles import bundle, entry
from tests.support.studies import Verdict, bundles_of, ledger_of


def study(folder: Path) -> Path:
    verdicts = [
        Verdict(judge, generator, f"{generator}-{number}", (number % 3, place, 1, 2, 0))
        for place, judge in enumerate(("j1", "j2"))
        for generator in ("g1", "g2")
        for number in range(4)
    ]
    return ledger_of(folder, [*bundles_of(verdicts), bundle(entry("bad", surplus=1))])


def tables(engine: DuckDB) -> list[str]:
    found = engine.rows("SELECT table_name FROM duckdb_tables() UNION ALL SELECT view_name FROM duckdb_views() "
                        "WHERE NOT internal")  # fmt: skip
    return sorted(name for (name,) in found)


def test_a_command_parses_lines_once_and_drops_the_tables_of_each_call(tmp_path):
    engine = DuckDB(tmp_path, "200MB")
    (tmp_path / "study").mkdir()
    with open_ledgers.open_as_one((study(tmp_path / "study"),)) as given:
        summarize(engine, given, Options(by=("generator_model",)))
        find_sensitivity(engine, given, Options(by=("judge_model",)))
        agreement_of(engine, given, Options())
        [parsed] = engine.parsed.values()
        assert tables(engine) == [parsed.removeprefix("kept.")]


def test_numbers_of_one_call_keep_their_own_tables(tmp_path):
    engine = DuckDB(tmp_path, "200MB")
    (tmp_path / "study").mkdir()
    options = Options(by=("judge_model",))
    with (
        open_ledgers.open_as_one((study(tmp_path / "study"),)) as given,
        prepare_records(engine, query_of(given, options), given, diagnostic=False) as query,
    ):
        every = Numbers(engine, query, options.rules.condition(), "artifact")
        before = every.groups()
        few = Numbers(engine, query, f"{options.rules.condition()} AND judge = 'j1'", "artifact")
        assert few.groups().keys() < before.keys()
        assert every.groups() == before


@st.composite
def labels_on_a_scale(draw):
    """Places, ends and labels, in units, on any scale of decimals that a rubric may have."""
    places = draw(st.integers(0, 12))
    ends = st.integers(0, 12 + places).flatmap(lambda digits: st.integers(-(10**digits), 10**digits))
    low, high = sorted((draw(ends), draw(ends)))
    scores = st.sampled_from([low, high]) | st.integers(low, high)
    labels = st.tuples(st.sampled_from("ab"), st.sampled_from("jk"), scores)
    return places, low, high, draw(st.lists(labels, min_size=1, max_size=12))


@settings(max_examples=30)
@drawn(labels_on_a_scale(), st.sampled_from([(), ("judge_model",), ("generator_model",)]))
@example((9, 0, 1, [("a", "j", 1)]), ())
@example((12, 0, 10**6, [("a", "j", 123456)]), ())
@example((12, -(10**24), 10**24, [("a", "j", 10**24)] * 5 + [("a", "k", 1 - 10**24)] * 7), ())
def test_sums_are_those_of_fractions_on_every_scale(study, by):
    places, low, high, labels = study
    scale = f'{{"kind":"decimals","minimum":{low}e-{places},"maximum":{high}e-{places},"places":{places}}}'
    rubric = f'{{"name":"r","dimensions":{{"d":{{"scale":{scale}}}}}}}'
    text = '{"run_id":"r%d","protocol_version":"p","judge_model":"%s","generator_model":"g","phase":1,'
    text += '"per_file_scores":[{"file":"%s","scores":{"d":%de-%d}}]}'
    expected: dict[Any, Any] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for file, judge, units in labels:
        levels = tuple({"judge_model": judge, "generator_model": "g"}[key] for key in by)
        expected[levels][file][judge].append(Fraction(units, 10**places))
    with TemporaryDirectory() as scratch:
        bundles = [Path(scratch) / f"{number}.json" for number in range(len(labels))]
        for number, (file, judge, units) in enumerate(labels):
            bundles[number].write_text(text % (number, judge, file, units, places))
        run(map(str, bundles), Path(scratch) / "ledger", load(rubric=rubric.encode()))
        options, engine = Options(by=by), DuckDB(Path(scratch), "200MB")
        with (
            open_ledgers.open_as_one((Path(scratch) / "ledger",)) as given,
            prepare_records(engine, query_of(given, options), given, diagnostic=False) as query,
        ):
            assert given.valid == len(labels)
            numbers = Numbers(engine, query, options.rules.condition(), "artifact")
            found = numbers.groups()
    assert found.keys() == expected.keys()
    for levels, group in found.items():
        values = [mean(map(mean, judges.values())) for judges in expected[levels].values()]
        [own, total] = group.sums
        assert own == total
        assert (group.n, group.records) == (
            len(values),
            sum(len(each) for j in expected[levels].values() for each in j.values()),
        )
        assert group.mean(numbers.denominator) == mean(values)
        assert Fraction(own.squares, numbers.denominator**2) == sum(value**2 for value in values)
        ends = [value * numbers.denominator for value in (min(values), max(values))]
        assert [own.least, own.most] == ends
