"""What an engine keeps: the lines of a ledger, parsed once, and nothing of a call that has ended."""

from pathlib import Path

from normalizer.aggregate.engines.on_duckdb import DuckDB
from normalizer.aggregate.summary import Options, query_of, summarize
from normalizer.aggregate.units import Numbers, prepare_records
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
