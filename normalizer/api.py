"""The Python API: `normalizer.open(ledger)`. Every method opens its ledgers, checks their records, and closes them.

Documents are what the commands print with `--format json`, as dicts whose numbers are `Decimal`s; `docs/python.md` has
examples. Needs the extra `report` for numbers and `export` for frames.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from normalizer.errors import CannotRun
from normalizer.ledger.reader import reading

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True, slots=True)
class Ledgers:
    """One ledger or several, read as one."""

    folders: tuple[Path, ...]

    def records(self) -> Iterator[dict[str, Any]]:
        """The VALID records, as documents of `eval_record.json` or `comparison_record.json`."""
        return self._items("records")

    def invalid(self) -> Iterator[dict[str, Any]]:
        """The INVALID records, with their reasons."""
        return self._items("invalid")

    def _items(self, kind: str) -> Iterator[dict[str, Any]]:
        seen: set[str] = set()  # a bundle that two ledgers have counts once
        for folder in self.folders:
            with reading(folder) as ledger:
                own = {item["bundle_sha256"] for item in ledger.items("headers")}
                for record in ledger.items(kind):
                    if record["source"]["bundle_sha256"] not in seen:
                        yield record
            seen |= own

    def frame(self, *, invalid: bool = False) -> "pyarrow.Table":
        """All records as an Arrow table: `frame().to_pandas()`, `polars.from_arrow(frame())`."""
        from normalizer.export import arrow
        from normalizer.export.flat import flattened

        with flattened(self.folders, invalid=invalid) as flat:
            return arrow.table(flat)

    def summary(
        self,
        by: Sequence[str] = (),
        *,
        where: Mapping[str, str | int | None] | None = None,
        unit: str = "artifact",
        diagnostic: bool = False,
        mix: Sequence[str] = (),
        judge_kinds: Sequence[str] = ("model",),
    ) -> dict[str, Any]:
        """Means, spreads and intervals by group: what `normalizer aggregate` prints."""
        from normalizer.aggregate.summary import aggregate

        return aggregate(self.folders, _options(by, where, unit, diagnostic, mix, judge_kinds))

    def agreement(
        self,
        *,
        where: Mapping[str, str | int | None] | None = None,
        diagnostic: bool = False,
        mix: Sequence[str] = (),
        judge_kinds: Sequence[str] = ("model",),
    ) -> dict[str, Any]:
        """How well judges agree: what `normalizer agreement` prints."""
        from normalizer.statistics.agreement import agreement

        return agreement(self.folders, _options((), where, "artifact", diagnostic, mix, judge_kinds))

    def preferences(
        self,
        by: Sequence[str] = (),
        *,
        baseline: str | None = None,
        where: Mapping[str, str | int | None] | None = None,
        diagnostic: bool = False,
        mix: Sequence[str] = (),
        judge_kinds: Sequence[str] = ("model",),
        seed: int = 0,
    ) -> dict[str, Any]:
        """Win rates, order effects, ratings and length bias: what `normalizer preferences` prints."""
        from normalizer.aggregate.eligibility import Rules
        from normalizer.aggregate.intervals import Method
        from normalizer.preferences.overview import PreferenceOptions, preferences

        asked = PreferenceOptions(
            by=tuple(by),
            where=dict(where or {}),
            baseline=baseline,
            rules=Rules(diagnostic, frozenset(mix), frozenset(judge_kinds)),
            method=Method(bootstrap=True, seed=seed),
        )
        return preferences(self.folders, asked)

    def calibrate(
        self,
        against: "Ledgers | str | Path | None" = None,
        *,
        by: Sequence[str] = (),
        where: Mapping[str, str | int | None] | None = None,
        consensus: str = "median",
        gold_kinds: Sequence[str] = (),
        diagnostic: bool = False,
        mix: Sequence[str] = (),
        seed: int = 0,
    ) -> dict[str, Any]:
        """Judges against human or reference labels: what `normalizer calibrate` prints."""
        from normalizer.aggregate.intervals import Method
        from normalizer.calibration.judge_accuracy import calibrate

        more = () if against is None else against.folders if isinstance(against, Ledgers) else (Path(against),)
        folders = tuple(dict.fromkeys((*self.folders, *more)))
        options = _options(by, where, "artifact", diagnostic, mix, ("model",))
        return calibrate(folders, options, consensus, Method(bootstrap=True, seed=seed), frozenset(gold_kinds))

    def gate(
        self,
        candidate: "Ledgers | str | Path",
        *,
        margin: str | float | Decimal = 0,
        alpha: float = 0.05,
        by: Sequence[str] = (),
        where: Mapping[str, str | int | None] | None = None,
        measures: Sequence[str] = (),
        mix: Sequence[str] = (),
        lower_is_better: bool = False,
        allow_undecided: bool = False,
        diagnostic: bool = False,
        baseline: str | None = None,
    ) -> dict[str, Any]:
        """This ledger as the base, another as the candidate: what `normalizer gate` prints."""
        from normalizer.aggregate.eligibility import MIXABLE
        from normalizer.gate.overview import TOTAL, GateOptions, gate, margin_of

        other = candidate.folders if isinstance(candidate, Ledgers) else (Path(candidate),)
        if len(self.folders) != 1 or len(other) != 1:
            raise CannotRun("a gate compares one ledger with one other")
        mixed = [key for key in mix if key in MIXABLE]
        options = _options(by, where, "artifact", diagnostic, mixed, ("model",), also=("criterion",))
        asked = GateOptions(
            margin=margin_of(str(margin)),
            alpha=alpha,
            measures=tuple(measures) or TOTAL,
            lower_is_better=lower_is_better,
            undecided_passes=allow_undecided,
            mix=frozenset(mix),
            baseline=baseline,
        )
        return gate(self.folders[0], other[0], options, asked)

    def report(
        self,
        out: str | Path,
        by: Sequence[str] = ("generator_model",),
        *,
        where: Mapping[str, str | int | None] | None = None,
        preferences: "Ledgers | None" = None,
        gold: "Ledgers | None" = None,
        title: str = "Evaluation report",
    ) -> int:
        """Write the page that `normalizer report` writes; returns its bytes."""
        from normalizer.report.html_page import page
        from normalizer.report.study import ReportOptions, gather

        options = _options(by, where, "artifact", False, (), ("model",))
        wanted = ReportOptions(
            preferences=preferences.folders if preferences else (), gold=gold.folders if gold else ()
        )
        data = page(gather(self.folders, options, wanted), options, title=title)
        return Path(out).write_bytes(data)


def _options(
    by: Sequence[str],
    where: Mapping[str, str | int | None] | None,
    unit: str,
    diagnostic: bool,
    mix: Sequence[str],
    judge_kinds: Sequence[str],
    also: tuple[str, ...] = (),
) -> Any:
    from normalizer.aggregate.eligibility import Rules
    from normalizer.aggregate.keys import ALSO_SELECTED, checked
    from normalizer.aggregate.summary import Options

    rules = Rules(diagnostic, frozenset(mix), frozenset(judge_kinds))
    for name in (*by, *(where or {})):
        checked(name, (*ALSO_SELECTED, *also))
    return replace(Options(), by=tuple(by), where=dict(where or {}), unit=unit, rules=rules)


def open_ledgers(*folders: str | Path) -> Ledgers:
    """Return an object that reads these ledgers. Raises UnusableLedger if a folder is no ledger."""
    if not folders:
        raise CannotRun("name at least one ledger")
    paths = tuple(Path(folder) for folder in folders)
    for path in paths:
        with reading(path):
            pass
    return Ledgers(paths)
