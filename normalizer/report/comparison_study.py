"""The study of ledgers that hold comparisons alone; `gather_any` takes ledgers of both kinds."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from normalizer.aggregate.engines.start import start_engine
from normalizer.aggregate.summary import Options
from normalizer.documents.rubric import Rubric
from normalizer.ledger.open_ledgers import holds_comparisons
from normalizer.ledger.reader import Ledger
from normalizer.report.gathering import find_preferences, gather, open_all
from normalizer.report.records.lookup import COUNTED, RecordLookup
from normalizer.report.records.page_records import PageRecords
from normalizer.report.records.sample import Sample
from normalizer.report.study import RecordCounts, ReportOptions, Study

_NO_SCALE = Rubric("", {})


@contextmanager
def gather_any(
    folders: tuple[Path, ...], options: Options, wanted: ReportOptions, done: Callable[[], None] = lambda: None
) -> Iterator[Study]:
    """Open ledgers and yield the study of them. Those that hold comparisons are its preferences."""
    with open_all(folders, options, wanted) as opened:
        compares = {folder: holds_comparisons(opened[folder]) for folder in folders}
        duels = (*(folder for folder in folders if compares[folder]), *wanted.preferences)
        scores = tuple(folder for folder in folders if not compares[folder])
        with (
            gather(opened, scores, options, replace(wanted, preferences=duels), done)
            if scores
            else gather_comparisons([opened[folder] for folder in duels], options, wanted)
        ) as study:
            yield study


@contextmanager
def gather_comparisons(ledgers: list[Ledger], options: Options, wanted: ReportOptions) -> Iterator[Study]:
    """Yield the study of opened ledgers of comparisons. It has no summary, and is about the comparisons."""
    size = sum(ledger.size("records") for ledger in ledgers)
    with (
        start_engine(options.engine, options.memory, size) as engine,
        TemporaryDirectory(prefix="normalizer-") as scratch,
    ):
        pages = PageRecords(engine, Sample(dict.fromkeys(ledgers)), Path(scratch))
        table = pages.make_table(pages.add_comparisons(ledgers, options.where, options.rules))
        pages.complete(table, "NULL", 1)
        reasons = pages.add_bundles(ledgers)
        yield Study(
            rubric=_NO_SCALE,
            lookup=RecordLookup(table, about="1 = 1"),
            shown=pages.shown,
            counts=RecordCounts(table.count(), table.count(), table.count(COUNTED)),
            bundles=pages.bundles,
            bundle_reasons=reasons,
            preferences=find_preferences(table, ledgers, options, wanted),
            comparisons=table,
        )
