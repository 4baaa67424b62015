"""All that is known of a study, gathered once for a report: each part is what its own command would print."""

from collections import Counter
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from normalizer.aggregate.eligibility import Levels
from normalizer.aggregate.engines.start import started
from normalizer.aggregate.keys import FACTOR
from normalizer.aggregate.summary import Options, query_of, summarize
from normalizer.checks.claims import claims
from normalizer.checks.evidence import verify_opened
from normalizer.documents.exact import rounded
from normalizer.documents.rubric import Rubric
from normalizer.ledger import open_ledgers
from normalizer.ledger.reader import Ledger
from normalizer.ledger.record_check import check_records
from normalizer.report.drift import drift
from normalizer.report.record_status import Placed, check_count, placed, refuse_large
from normalizer.statistics.agreement import agreement
from normalizer.statistics.distribution import distribution
from normalizer.statistics.overview import statistics
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
    """All that judges claim, no bundle twice."""
    evidence: list[dict[str, Any]] = field(default_factory=list)
    """Of each ledger, where artifacts are given."""
    bundles: dict[str, bytes] = field(default_factory=dict)
    """The raw bytes, by hash."""
    bundle_reasons: list[dict[str, Any]] = field(default_factory=list)
    """Headers and audit lines with reasons that blame no record."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a report is asked to show besides the summary."""

    contrasts: tuple[str, ...] = ()
    """Keys to compare the levels of; none: every factor with few levels."""
    paired_by: tuple[str, ...] = ()
    """What paired units agree in; none: all other factors, and the generator."""
    artifacts: Path | None = None
    seed: int = 0


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
    options = replace(options, check=check_records)  # done: the ledgers are only opened again
    designs = _designs(records, wanted)
    first, *others = [statistics(folders, options, key, paired, wanted.seed) for key, paired in designs or [(None, ())]]
    return Study(
        rubric=rubric,
        records=records,
        summary=summary,
        rates=_rates(records),
        distribution=spread_out,
        agreement=agreement(folders, replace(options, by=())),
        statistics=first,
        contrasts=[each for each in (first, *others) if each["contrasts"]],
        drift=drift(records, rubric, options, wanted.seed),
        claims=claimed,
        evidence=evidence,
        bundles=bundles,
        bundle_reasons=reasons,
    )


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
