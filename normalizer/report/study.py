"""Everything a report shows, computed from ledgers that are opened once. Each part is a document of its own command."""

from collections import Counter
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from normalizer.aggregate.eligibility import Levels
from normalizer.aggregate.engines.start import started
from normalizer.aggregate.intervals import Method
from normalizer.aggregate.keys import FACTOR
from normalizer.aggregate.summary import Options, query_of, summarize
from normalizer.calibration.overview import calibrate
from normalizer.checks.claims import claims
from normalizer.checks.evidence import verify_opened
from normalizer.documents.exact import rounded
from normalizer.documents.rubric import Rubric
from normalizer.errors import CannotRun
from normalizer.gate.overview import Terms, gate
from normalizer.ledger import open_ledgers
from normalizer.ledger.reader import Ledger
from normalizer.preferences.overview import Asked, preferences
from normalizer.report.drift import drift
from normalizer.report.record_status import Placed, check_count, placed, refuse_large
from normalizer.statistics.agreement import agreement_of
from normalizer.statistics.distribution import distribution
from normalizer.statistics.overview import statistics_of
from normalizer.statistics.rates import wilson
from normalizer.statistics.spread import ends

_MOST_LEVELS = 6
"""A factor with more levels than this is compared only if it is asked for."""


@dataclass(slots=True)
class Study:
    """The documents, and the records behind them."""

    rubric: Rubric
    records: list[Placed]
    summary: dict[str, Any]
    rates: dict[Levels, dict[str, Any]]
    """For each group its records, how many are INVALID, and the rate with Wilson's interval."""
    distribution: list[dict[str, Any]]
    agreement: dict[str, Any]
    statistics: dict[str, Any]
    contrasts: list[dict[str, Any]]
    """Statistics of each contrasted key: its `paired_by` and `contrasts`."""
    drift: list[dict[str, Any]]
    claims: list[dict[str, Any]]
    """The claims of all judges, no bundle twice."""
    evidence: list[dict[str, Any]] = field(default_factory=list)
    """Evidence reports, one for each ledger, if artifacts are given."""
    bundles: dict[str, bytes] = field(default_factory=dict)
    """The raw bytes, by hash."""
    bundle_reasons: list[dict[str, Any]] = field(default_factory=list)
    """Headers and audit lines with reasons that blame no record."""
    preferences: dict[str, Any] | None = None
    calibration: dict[str, Any] | None = None
    gate: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Options of a report besides those of the summary."""

    contrasts: tuple[str, ...] = ()
    """Keys to compare the levels of; none: every factor with few levels."""
    paired_by: tuple[str, ...] = ()
    """Keys that paired units agree in; none: all other factors, and the generator."""
    artifacts: Path | None = None
    seed: int = 0
    preferences: tuple[Path, ...] = ()
    """Ledgers of comparisons."""
    gold: tuple[Path, ...] = ()
    """Ledgers of human or reference labels."""
    base: Path | None = None
    """The ledger that this one is a candidate against."""


def gather(folders: tuple[Path, ...], options: Options, wanted: Wanted) -> Study:
    """Compute everything. Raises CannotRun at once if there are more records than a page can show."""

    def check(ledger: Ledger) -> None:
        refuse_large(ledger)
        options.check(ledger)

    with (
        open_ledgers.opened(folders, check) as given,
        started(options.engine, options.memory, given.size) as engine,
    ):
        check_count(sum(part.ledger.record_count() for part in given.parts))
        summary = summarize(engine, given, options)
        spread_out = distribution(engine, given, options)
        rubric = query_of(given, options).rubric
        records = placed(given, rubric, options)
        ledgers = [part.ledger for part in given.parts]
        claimed = [
            claim
            for part in given.parts
            for claim in claims(part.ledger)["claims"]
            if claim["bundle_sha256"] not in part.skip
        ]
        evidence = [verify_opened(ledger, wanted.artifacts) for ledger in ledgers] if wanted.artifacts else []
        bundles, reasons = {}, []
        for ledger in ledgers:
            for kind in ("headers", "audit"):
                for item in ledger.items(kind):
                    if item["bundle_sha256"] not in bundles:
                        bundles[item["bundle_sha256"]] = ledger.bundle(item["bundle_sha256"])
                        about = {"bundle_sha256": item["bundle_sha256"], "unreadable": kind == "audit"}
                        reasons += [{**reason, **about} for reason in item["reasons"]]
        designs = _designs(records, wanted) or [(None, ())]
        first, *others = [statistics_of(engine, given, options, key, paired, wanted.seed) for key, paired in designs]
        agreed = agreement_of(engine, given, replace(options, by=()))
    return Study(
        rubric=rubric,
        records=records,
        summary=summary,
        rates=_rates(records),
        distribution=spread_out,
        agreement=agreed,
        statistics=first,
        contrasts=[each for each in (first, *others) if each["contrasts"]],
        drift=drift(records, rubric, options, wanted.seed),
        claims=claimed,
        evidence=evidence,
        bundles=bundles,
        bundle_reasons=reasons,
        preferences=_preferences(options, wanted),
        calibration=_calibration(folders, options, wanted),
        gate=_gate(folders, options, wanted),
    )


def _preferences(options: Options, wanted: Wanted) -> dict[str, Any] | None:
    if not wanted.preferences:
        return None
    method = Method(bootstrap=True, seed=wanted.seed)
    return preferences(wanted.preferences, Asked(rules=options.rules, method=method, check=options.check))


def _calibration(folders: tuple[Path, ...], options: Options, wanted: Wanted) -> dict[str, Any] | None:
    if not wanted.gold:
        return None
    together = tuple(dict.fromkeys((*folders, *wanted.gold)))
    return calibrate(together, replace(options, by=()), "median", Method(bootstrap=True, seed=wanted.seed))


def _gate(folders: tuple[Path, ...], options: Options, wanted: Wanted) -> dict[str, Any] | None:
    if wanted.base is None:
        return None
    if len(folders) != 1:
        raise CannotRun("--base compares one ledger with the base: give one LEDGER")
    return gate(wanted.base, folders[0], replace(options, by=()), Terms())


def _designs(records: list[Placed], wanted: Wanted) -> list[tuple[str | None, tuple[str, ...]]]:
    levels: dict[str, set[str]] = {}
    for each in records:
        if each.standing == "counted":
            for name, level in (each.plain.get("factors") or {}).items():
                levels.setdefault(FACTOR + name, set()).add(level)
    chosen = wanted.contrasts or tuple(name for name in sorted(levels) if 2 <= len(levels[name]) <= _MOST_LEVELS)
    designs: list[tuple[str | None, tuple[str, ...]]] = []
    for key in chosen:
        others = wanted.paired_by or ("generator_model", *sorted(levels))
        paired = tuple(name for name in others if name != key)
        if paired:
            designs.append((key, paired))
    return designs


def _rates(records: list[Placed]) -> dict[Levels, dict[str, Any]]:
    every: Counter[Levels] = Counter()
    invalid: Counter[Levels] = Counter()
    for each in records:
        if each.standing not in ("duplicate", "not_selected"):
            every[each.levels] += 1
            invalid[each.levels] += each.standing == "invalid"
    return {
        levels: {
            "records": count,
            "invalid": invalid[levels],
            "rate": rounded(Fraction(invalid[levels], count)),
            "wilson95": ends(wilson(invalid[levels], count)),
        }
        for levels, count in every.items()
    }
