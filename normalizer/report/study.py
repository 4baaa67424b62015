"""The study that a report shows: the documents of other commands, and the records behind their numbers."""

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from normalizer.aggregate.eligibility import Levels
from normalizer.calibration.labels import LabelStudy
from normalizer.documents.rubric import Rubric
from normalizer.report.records.bundles import PageBundles
from normalizer.report.records.lookup import RecordLookup
from normalizer.report.records.record_table import RecordTable
from normalizer.report.records.sample import ShownRecord


class RecordCounts(NamedTuple):
    """How many records a page is about."""

    every: int
    """Those of all ledgers, which could be shown."""
    about: int
    """Those of the ledgers that the page is about."""
    counted: int
    """Those of the headline's numbers."""


@dataclass(slots=True)
class Study:
    """The documents, and the records behind them, which can be looked up as long as the ledgers are open."""

    rubric: Rubric
    lookup: RecordLookup
    """The records of the ledgers that the page is about."""
    shown: list[ShownRecord]
    """The records that the page shows one by one."""
    counts: RecordCounts
    summary: dict[str, Any] = field(default_factory=dict)
    rates: dict[Levels, dict[str, Any]] = field(default_factory=dict)
    """For each group its records, how many are INVALID, and the rate with Clopper and Pearson's interval."""
    distribution: list[dict[str, Any]] = field(default_factory=list)
    agreement: dict[str, Any] = field(default_factory=dict)
    sensitivity: dict[str, Any] = field(default_factory=dict)
    contrasts: list[dict[str, Any]] = field(default_factory=list)
    """One document for each key whose levels are compared."""
    drift: list[dict[str, Any]] = field(default_factory=list)
    claims: list[dict[str, Any]] = field(default_factory=list)
    """The claims of judges that are wrong or not derivable. A bundle that is in two ledgers counts once."""
    claim_counts: Counter[str] = field(default_factory=Counter)
    """How many claims have which verdict."""
    evidence: list[dict[str, Any]] = field(default_factory=list)
    """Evidence reports, one for each ledger, if artifacts are given."""
    bundles: PageBundles = field(default_factory=PageBundles)
    bundle_reasons: list[dict[str, Any]] = field(default_factory=list)
    """Headers and audit lines with reasons that blame no record."""
    preferences: dict[str, Any] | None = None
    comparisons: RecordTable | None = None
    """The records of the ledgers of comparisons."""
    calibration: dict[str, Any] | None = None
    labels: LabelStudy | None = None
    """The labels that the calibration is made of."""
    gate: dict[str, Any] | None = None
    having: dict[str, str] = field(default_factory=dict)
    """For each optional dimension the engine's table of the ids of the counted records that have it."""


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
