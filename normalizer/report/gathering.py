"""Compute everything that a report shows, from ledgers that are opened once."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from normalizer.aggregate.eligibility import Levels
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.engines.start import start_engine
from normalizer.aggregate.intervals import Method
from normalizer.aggregate.keys import DIMENSION, FACTOR
from normalizer.aggregate.query import Query
from normalizer.aggregate.record_list import select_statuses
from normalizer.aggregate.summary import Options, distribution, query_of, select_rubric, summarize
from normalizer.aggregate.units import prepare_records
from normalizer.calibration.judge_accuracy import calibrate_labels, read_labels
from normalizer.checks.claims import iterate_claims
from normalizer.checks.evidence import verify_opened
from normalizer.errors import CannotRun
from normalizer.gate.paired_verdicts import GateOptions, gate_of
from normalizer.ledger import open_ledgers
from normalizer.ledger.open_ledgers import OpenLedgers
from normalizer.ledger.reader import Ledger
from normalizer.preferences.group_preferences import PreferenceOptions, preferences_of
from normalizer.report.drift import drift
from normalizer.report.records.lookup import COUNTED, OWN, RecordLookup
from normalizer.report.records.page_records import PageRecords, Source
from normalizer.report.records.record_table import RecordTable
from normalizer.report.records.sample import Sample
from normalizer.report.study import RecordCounts, ReportOptions, Study
from normalizer.statistics.agreement import agreement_of
from normalizer.statistics.contrasts import GENERATORS, Contrast, compare_opened
from normalizer.statistics.rates import rate_with_interval
from normalizer.statistics.sensitivity import find_sensitivity

EVERYONE = frozenset(("model", "human", "reference"))
_MOST_LEVELS = 6
"""A key with more levels than this is compared only if it is asked for."""
PARTS = 10
"""Calls of `done` that `gather` makes."""


@contextmanager
def open_all(folders: tuple[Path, ...], options: Options, wanted: ReportOptions) -> Iterator[dict[Path, Ledger]]:
    """Open every ledger of a report once, so that all parts of the page show one state of it."""
    every = (*folders, *wanted.gold, *_bases(wanted), *wanted.preferences)
    with open_ledgers.open_each(every, options.check) as opened:
        yield opened


def _bases(wanted: ReportOptions) -> tuple[Path, ...]:
    return () if wanted.base is None else (wanted.base,)


@contextmanager
def gather(
    opened: dict[Path, Ledger],
    folders: tuple[Path, ...],
    options: Options,
    wanted: ReportOptions,
    done: Callable[[], None] = lambda: None,
) -> Iterator[Study]:
    """Compute everything about opened ledgers of scores; `done` is called after each of its PARTS."""
    if wanted.base is not None and len(folders) != 1:
        raise CannotRun("--base compares one ledger with the base: give one LEDGER")
    given = open_ledgers.as_one([opened[folder] for folder in folders])
    with start_engine(options.engine, options.memory, given.size) as engine, ExitStack() as stack:
        sample = Sample(dict.fromkeys(opened.values()))
        done()
        scratch = Path(stack.enter_context(TemporaryDirectory(prefix="normalizer-")))
        pages = PageRecords(engine, sample, scratch)
        study = _look_up(engine, stack, pages, given, options, Others.of(opened, wanted))
        done()
        study.summary = summarize(engine, given, options)
        done()
        study.distribution = distribution(engine, given, options)
        done()
        study.claims, study.claim_counts = _find_claims(given)
        done()
        ledgers = [part.ledger for part in given.parts]
        study.evidence = [verify_opened(ledger, wanted.artifacts) for ledger in ledgers] if wanted.artifacts else []
        done()
        study.bundle_reasons = pages.add_bundles(ledgers)
        done()
        study.sensitivity = find_sensitivity(engine, given, options)
        by_artifact = replace(options, by=(), unit="artifact")  # as `compare` has it
        designs = _designs(study.lookup, wanted)
        compared = [compare_opened(engine, given, by_artifact, design) for design in designs]
        study.contrasts = [each for each in compared if each["contrasts"]]
        study.drift = drift(study.lookup.table, study.rubric, options)
        done()
        study.agreement = agreement_of(engine, given, replace(options, by=()))
        done()
        _decide(study, engine, given, opened, options, wanted)
        done()
        yield study


def _find_claims(given: OpenLedgers) -> tuple[list[dict[str, Any]], Counter[str]]:
    """Return the claims that are wrong or not derivable, and how many have which verdict. A bundle counts once."""
    counts: Counter[str] = Counter()
    found = []
    for part in given.parts:
        for claim in iterate_claims(part.ledger):
            if claim["bundle_sha256"] not in part.skip:
                counts[claim["verdict"]] += 1
                found += [claim] if claim["verdict"] in ("mismatch", "not_derivable") else []
    return found, counts


class Others(NamedTuple):
    """The further ledgers of a page, opened."""

    duels: list[Ledger]
    gold: list[Ledger]
    base: list[Ledger]

    @classmethod
    def of(cls, opened: dict[Path, Ledger], wanted: ReportOptions) -> "Others":
        """Return those that a report is to show."""
        named = (wanted.preferences, wanted.gold, _bases(wanted))
        return cls(*([opened[folder] for folder in folders] for folders in named))


def _look_up(
    engine: Engine, stack: ExitStack, pages: PageRecords, given: OpenLedgers, options: Options, others: Others
) -> Study:
    """Return a study that has the records of all its ledgers, and no numbers yet. Tables live as long as the stack."""
    query = stack.enter_context(prepare_records(engine, query_of(given, options), given, diagnostic=True, ids=True))
    source = Source("", given.parts, options.rules, options.where, given.active)
    scores = [pages.add_scores(source, query, options.by)]
    compared = pages.add_comparisons(others.duels, {}, options.rules) if others.duels else None
    for role, ledgers in (("gold", others.gold), ("base", others.base)):
        if ledgers:
            labelled = open_ledgers.as_one(list(dict.fromkeys(ledgers)))
            source = _source_of_labels(role, labelled, given, options)
            bare = Query(query.rubric, (), source.where, None)
            of_role = stack.enter_context(prepare_records(engine, bare, labelled, diagnostic=True, ids=True))
            scores.append(pages.add_scores(source, of_role, options.by))
    table = pages.make_table(*scores)
    pages.complete(table, "t", 10**query.places)
    duels = None
    if compared is not None:
        duels = pages.make_table(compared)
        pages.complete(duels, "NULL", 1)
    lookup = RecordLookup(table, len(options.by))
    return Study(
        rubric=query.rubric,
        lookup=lookup,
        shown=pages.shown,
        bundles=pages.bundles,
        counts=RecordCounts(
            table.count() + (duels.count() if duels else 0), table.count(OWN), table.count(f"{OWN} AND {COUNTED}")
        ),
        rates=_rates(table, len(options.by)),
        comparisons=duels,
        having=_find_scored(engine, stack, given, options),
    )


def _source_of_labels(role: str, labelled: OpenLedgers, given: OpenLedgers, options: Options) -> Source:
    """Return the further ledgers of scores. A bundle that the page has already is not read again, but for the base of a
    gate, which may be the ledger itself."""
    if role == "base":
        return Source(role, labelled.parts, options.rules, options.where)
    names = [
        {item["bundle_sha256"] for part in ledgers.parts for item in part.ledger.items("headers")}
        for ledgers in (labelled, given)
    ]
    rules = replace(options.rules, judge_kinds=EVERYONE)
    return Source(role, labelled.parts, rules, {}, known=frozenset(names[0] & names[1]))


def _decide(
    study: Study,
    engine: Engine,
    given: OpenLedgers,
    opened: dict[Path, Ledger],
    options: Options,
    wanted: ReportOptions,
) -> None:
    """Add preferences, calibration and the gate to a study, where they are asked for."""
    others = Others.of(opened, wanted)
    ungrouped = replace(options, by=())
    if study.comparisons is not None:
        study.preferences = find_preferences(study.comparisons, others.duels, replace(options, where={}), wanted)
    if others.gold:
        ledgers = [*(part.ledger for part in given.parts), *others.gold]
        method = Method(bootstrap=True, seed=wanted.seed)
        labelled = read_labels(engine, open_ledgers.as_one(list(dict.fromkeys(ledgers))), ungrouped, "median")
        study.calibration, study.labels = calibrate_labels(labelled, ungrouped, method), labelled.study
    for ledger in others.base:
        base = open_ledgers.as_one([ledger])
        study.gate = gate_of(engine, base, given, ungrouped, GateOptions(margin=wanted.margin))


def _find_scored(engine: Engine, stack: ExitStack, given: OpenLedgers, options: Options) -> dict[str, str]:
    """Return for each optional dimension the engine's table of the ids of the records that its numbers are made of."""
    if DIMENSION in options.where:
        return {}
    having = {}
    for name in select_rubric(given, options).optional:
        narrow = query_of(given, replace(options, where={**options.where, DIMENSION: name}))
        query = stack.enter_context(prepare_records(engine, narrow, given, diagnostic=True, ids=True))
        text = f"SELECT record_id FROM ({select_statuses(query, options.rules)}) AS s WHERE {COUNTED}"
        having[name] = engine.table("having", text)
    return having


def find_preferences(
    comparisons: RecordTable, ledgers: list[Ledger], options: Options, wanted: ReportOptions
) -> dict[str, Any]:
    """Return the preferences of opened ledgers, by criterion if there are several."""
    asked = PreferenceOptions(
        by=("criterion",) if len(comparisons.group(["criterion"], "valid = 1")) > 1 else (),
        where=options.where,
        rules=options.rules,
        method=Method(bootstrap=True, seed=wanted.seed),
    )
    return preferences_of(ledgers, asked)


def _designs(lookup: RecordLookup, wanted: ReportOptions) -> list[Contrast]:
    """Return the keys to contrast, each with the keys that its pairs agree in."""
    levels = {FACTOR + name: count for name, count in lookup.count_factor_levels().items()}
    generator_key, by_artifact = GENERATORS.key, GENERATORS.paired_by
    chosen = wanted.contrasts
    if not chosen:
        few = [name for name in sorted(levels) if 2 <= levels[name] <= _MOST_LEVELS]
        generators = lookup.count_levels("generator")
        chosen = (*([generator_key] if 2 <= generators <= _MOST_LEVELS else []), *few)
    designs = []
    for key in chosen:
        others = wanted.paired_by or (generator_key, *sorted(levels))
        if key == generator_key and not wanted.paired_by and lookup.share_artifacts():
            others = by_artifact
        paired = tuple(name for name in others if name != key)
        if paired:
            designs.append(Contrast(key, paired))
    return designs


def _rates(table: RecordTable, width: int) -> dict[Levels, dict[str, Any]]:
    every: Counter[Levels] = Counter()
    invalid: Counter[Levels] = Counter()
    keys = [*(f"k{number}" for number in range(width)), "status"]
    for (*levels, status), count in table.count_groups(keys, f"{OWN} AND status NOT IN ('duplicate', 'not_selected')"):
        every[tuple(levels)] += count
        invalid[tuple(levels)] += count if status == "invalid" else 0
    rates = {}
    for group, count in every.items():
        rate, interval = rate_with_interval(invalid[group], count)
        rates[group] = {"records": count, "invalid": invalid[group], "rate": rate, "exact95": interval}
    return rates
