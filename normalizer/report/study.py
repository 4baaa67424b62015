"""Everything a report shows, computed from ledgers that are opened once. Each part is a document of its own command."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from normalizer.aggregate.eligibility import Levels
from normalizer.aggregate.engines.interface import Engine
from normalizer.aggregate.engines.start import start_engine
from normalizer.aggregate.intervals import Method
from normalizer.aggregate.keys import DIMENSION, FACTOR
from normalizer.aggregate.record_list import list_records
from normalizer.aggregate.summary import Options, distribution, query_of, select_rubric, summarize
from normalizer.calibration.judge_accuracy import calibration_of
from normalizer.checks.claims import claims
from normalizer.checks.evidence import verify_opened
from normalizer.documents.rubric import Rubric
from normalizer.errors import CannotRun
from normalizer.gate.paired_verdicts import GateOptions, gate_of
from normalizer.ledger import open_ledgers
from normalizer.ledger.open_ledgers import OpenLedgers
from normalizer.ledger.reader import Ledger
from normalizer.preferences.group_preferences import PreferenceOptions, preferences_of
from normalizer.report.decisions.other_records import OtherRecords
from normalizer.report.drift import drift
from normalizer.report.record_status import RecordStatus, Sample, record_statuses
from normalizer.screening.raw_rows import unpack_bundle
from normalizer.statistics.agreement import agreement_of
from normalizer.statistics.contrasts import GENERATORS, Contrast, compare_opened
from normalizer.statistics.rates import rate_with_interval
from normalizer.statistics.sensitivity import find_sensitivity


@dataclass(slots=True)
class Study:
    """The documents, and the records behind them."""

    rubric: Rubric
    records: list[RecordStatus]
    summary: dict[str, Any]
    rates: dict[Levels, dict[str, Any]]
    """For each group its records, how many are INVALID, and the rate with Clopper and Pearson's interval."""
    distribution: list[dict[str, Any]]
    agreement: dict[str, Any]
    sensitivity: dict[str, Any]
    contrasts: list[dict[str, Any]]
    """One document for each key whose levels are compared."""
    drift: list[dict[str, Any]]
    claims: list[dict[str, Any]]
    """The claims of all judges. A bundle that is in two ledgers counts once."""
    evidence: list[dict[str, Any]] = field(default_factory=list)
    """Evidence reports, one for each ledger, if artifacts are given."""
    bundles: dict[str, bytes] = field(default_factory=dict)
    """The raw bytes, by hash."""
    bundle_reasons: list[dict[str, Any]] = field(default_factory=list)
    """Headers and audit lines with reasons that blame no record."""
    preferences: dict[str, Any] | None = None
    calibration: dict[str, Any] | None = None
    gate: dict[str, Any] | None = None
    others: list[RecordStatus] = field(default_factory=list)
    """Records of the ledgers of comparisons, of gold and of the base; their places follow those of `records`."""
    having: dict[str, set[str]] = field(default_factory=dict)
    """The ids of the counted records that have an optional dimension."""

    @property
    def shown(self) -> list[RecordStatus]:
        """The records that the page shows one by one."""
        return [each for each in (*self.records, *self.others) if each.record is not None]


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Options of a report besides those of the summary."""

    contrasts: tuple[str, ...] = ()
    """Keys to compare the levels of; none: generators, and every factor with few levels."""
    paired_by: tuple[str, ...] = ()
    """Keys that paired units agree in; none: all other factors, and the generator. Generators are paired by artifact
    where two of them have one in common."""
    artifacts: Path | None = None
    seed: int = 0
    preferences: tuple[Path, ...] = ()
    """Ledgers of comparisons."""
    gold: tuple[Path, ...] = ()
    """Ledgers of human or reference labels."""
    base: Path | None = None
    """The ledger that this one is a candidate against."""
    margin: Fraction = Fraction(0)
    """The margin of the gate against that ledger."""


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


def gather(
    opened: dict[Path, Ledger],
    folders: tuple[Path, ...],
    options: Options,
    wanted: ReportOptions,
    done: Callable[[], None] = lambda: None,
) -> Study:
    """Compute everything about opened ledgers of scores; `done` is called after each of its PARTS."""
    if wanted.base is not None and len(folders) != 1:
        raise CannotRun("--base compares one ledger with the base: give one LEDGER")
    given = open_ledgers.as_one([opened[folder] for folder in folders])
    with start_engine(options.engine, options.memory, given.size) as engine:
        sample = Sample(dict.fromkeys(opened.values()))
        done()
        summary = summarize(engine, given, options)
        done()
        spread_out = distribution(engine, given, options)
        done()
        query = query_of(given, options)
        rubric = query.rubric
        records = record_statuses(engine, given, query, options, sample)
        having = _find_scored(engine, given, options)
        done()
        ledgers = [part.ledger for part in given.parts]
        claimed = [
            claim
            for part in given.parts
            for claim in claims(part.ledger)["claims"]
            if claim["bundle_sha256"] not in part.skip
        ]
        done()
        evidence = [verify_opened(ledger, wanted.artifacts) for ledger in ledgers] if wanted.artifacts else []
        done()
        bundles, reasons = raw_bundles(
            ledgers, None if sample.is_all else {one.bundle for one in records if one.record}
        )
        done()
        sensitivity = find_sensitivity(engine, given, options)
        by_artifact = replace(options, by=(), unit="artifact")  # as `compare` has it
        designs = _designs(records, wanted)
        compared = [compare_opened(engine, given, by_artifact, design) for design in designs]
        done()
        ungrouped = replace(options, by=())
        agreed = agreement_of(engine, given, ungrouped)
        done()
        duels = [opened[folder] for folder in wanted.preferences]
        preferred = preferences_with_criteria(duels, replace(options, where={}), wanted) if duels else None
        calibrated = gated = None
        if wanted.gold:
            together = open_ledgers.as_one(list(dict.fromkeys(opened[folder] for folder in (*folders, *wanted.gold))))
            method = Method(bootstrap=True, seed=wanted.seed)
            calibrated = calibration_of(engine, together, ungrouped, "median", method)
        if wanted.base is not None:
            base = open_ledgers.as_one([opened[wanted.base]])
            gated = gate_of(engine, base, given, ungrouped, GateOptions(margin=wanted.margin))
        others = OtherRecords(list(records), bundles, sample)
        others.add_comparisons(duels, options, {})
        others.add_labels(engine, [opened[folder] for folder in wanted.gold], "gold", rubric, options)
        others.add_labels(engine, [opened[folder] for folder in _bases(wanted)], "base", rubric, options)
        done()
    return Study(
        rubric=rubric,
        records=records,
        summary=summary,
        rates=_rates(records),
        distribution=spread_out,
        agreement=agreed,
        sensitivity=sensitivity,
        contrasts=[each for each in compared if each["contrasts"]],
        drift=drift(records, rubric, options),
        claims=claimed,
        evidence=evidence,
        bundles=bundles,
        bundle_reasons=reasons,
        preferences=preferred,
        calibration=calibrated,
        gate=gated,
        others=others.records[len(records) :],
        having=having,
    )


def _find_scored(engine: Engine, given: OpenLedgers, options: Options) -> dict[str, set[str]]:
    """Return for each optional dimension the ids of the records that its numbers are made of."""
    if DIMENSION in options.where:
        return {}
    having = {}
    for name in select_rubric(given, options).optional:
        query = query_of(given, replace(options, where={**options.where, DIMENSION: name}))
        listed = list_records(engine, query, given, options.rules)
        having[name] = {one.id for one in listed if one.status == "counted"}
    return having


def raw_bundles(ledgers: list[Ledger], wanted: set[str] | None = None) -> tuple[dict[str, bytes], list[dict[str, Any]]]:
    """Return the raw bytes of every bundle, or of those wanted, by hash, and all reasons that blame no record."""
    bundles: dict[str, bytes] = {}
    reasons: list[dict[str, Any]] = []
    seen: set[str] = set()
    for ledger in ledgers:
        for kind in ("headers", "audit"):
            for item in ledger.items(kind):
                sha256 = item["bundle_sha256"]
                if sha256 not in seen:
                    seen.add(sha256)
                    if wanted is None or sha256 in wanted:
                        bundles[sha256] = unpack_bundle(ledger, sha256)
                    about = {"bundle_sha256": sha256, "unreadable": kind == "audit"}
                    reasons += [{**reason, **about} for reason in item["reasons"]]
    return bundles, reasons


def preferences_with_criteria(ledgers: list[Ledger], options: Options, wanted: ReportOptions) -> dict[str, Any]:
    """Return the preferences of opened ledgers, by criterion if there are several."""
    criteria = {record.get("criterion") for ledger in ledgers for record in ledger.items("records")}
    asked = PreferenceOptions(
        by=("criterion",) if len(criteria) > 1 else (),
        where=options.where,
        rules=options.rules,
        method=Method(bootstrap=True, seed=wanted.seed),
    )
    return preferences_of(ledgers, asked)


def _designs(records: list[RecordStatus], wanted: ReportOptions) -> list[Contrast]:
    """Return the keys to contrast, each with the keys that its pairs agree in."""
    levels: dict[str, set[str]] = {}
    makers: dict[str, set[str]] = {}
    for each in records:
        if each.status == "counted":
            for name, level in (each.plain.get("factors") or {}).items():
                levels.setdefault(FACTOR + name, set()).add(level)
            if (generator := each.plain.get("generator_model")) is not None:
                makers.setdefault(each.plain["artifact"], set()).add(generator)
    generator_key, by_artifact = GENERATORS.key, GENERATORS.paired_by
    generators = set().union(*makers.values())
    chosen = wanted.contrasts
    if not chosen:
        few = [name for name in sorted(levels) if 2 <= len(levels[name]) <= _MOST_LEVELS]
        chosen = (*([generator_key] if 2 <= len(generators) <= _MOST_LEVELS else []), *few)
    designs = []
    for key in chosen:
        others = wanted.paired_by or (generator_key, *sorted(levels))
        if key == generator_key and not wanted.paired_by and any(len(each) > 1 for each in makers.values()):
            others = by_artifact
        paired = tuple(name for name in others if name != key)
        if paired:
            designs.append(Contrast(key, paired))
    return designs


def _rates(records: list[RecordStatus]) -> dict[Levels, dict[str, Any]]:
    every: Counter[Levels] = Counter()
    invalid: Counter[Levels] = Counter()
    for each in records:
        if each.status not in ("duplicate", "not_selected"):
            every[each.levels] += 1
            invalid[each.levels] += each.status == "invalid"
    rates = {}
    for levels, count in every.items():
        rate, interval = rate_with_interval(invalid[levels], count)
        rates[levels] = {"records": count, "invalid": invalid[levels], "rate": rate, "exact95": interval}
    return rates
