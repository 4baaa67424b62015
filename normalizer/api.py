"""The Python API: `normalizer.open(ledger)`. Every method opens its ledgers, checks their records, and closes them.

Documents are what the commands print with `--format json`, records what the lines of a ledger hold, as the models that
are generated from their schemas; `docs/python.md` has examples. `lines` has the text of records, in which numbers keep
their spelling. Needs the extra `report` for numbers and `export` for frames.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from contract_spec.model import Model
from pydantic import ValidationError

from normalizer.errors import CannotRun, UnusableLedger
from normalizer.ledger.line_format import sha_slice
from normalizer.ledger.reader import reading

if TYPE_CHECKING:
    import pyarrow
    from contract_models.eval.agreement import AgreementReport
    from contract_models.eval.calibration import Calibration
    from contract_models.eval.comparison_record import ComparisonRecord
    from contract_models.eval.eval_record import EvalRecord
    from contract_models.eval.gate import Gate
    from contract_models.eval.invalid_comparison import InvalidComparison
    from contract_models.eval.invalid_record import InvalidRecord
    from contract_models.eval.preferences import Preferences
    from contract_models.eval.summary import Summary


M = TypeVar("M", bound=Model)


@dataclass(frozen=True, slots=True)
class Ledgers:
    """One ledger or several, read as one."""

    folders: tuple[Path, ...]

    def records(self) -> Iterator["EvalRecord | ComparisonRecord"]:
        """Yield the VALID records."""
        from contract_models.eval.comparison_record import ComparisonRecord
        from contract_models.eval.eval_record import EvalRecord

        for compares, line in self._lines("records"):
            yield _record(ComparisonRecord, line) if compares else _record(EvalRecord, line)

    def invalid(self) -> Iterator["InvalidRecord | InvalidComparison"]:
        """Yield the INVALID records, with their reasons."""
        from contract_models.eval.invalid_comparison import InvalidComparison
        from contract_models.eval.invalid_record import InvalidRecord

        for compares, line in self._lines("invalid"):
            yield _record(InvalidComparison, line) if compares else _record(InvalidRecord, line)

    def lines(self, *, invalid: bool = False) -> Iterator[bytes]:
        """Yield the lines of VALID or INVALID records as the ledger has them, each number spelled as the judge did."""
        return (line for _, line in self._lines("invalid" if invalid else "records"))

    def _lines(self, kind: str) -> Iterator[tuple[bool, bytes]]:
        """Yield each line, and whether it is that of a comparison: a ledger holds one kind."""
        seen: set[str] = set()  # a bundle that two ledgers have counts once
        for folder in self.folders:
            with reading(folder) as ledger:
                headers = {item["bundle_sha256"]: item.get("kind") for item in ledger.items("headers")}
                for line in ledger.checked_lines(kind):
                    sha256 = line[sha_slice(kind)].decode("ascii")
                    if sha256 not in seen:
                        yield headers.get(sha256) == "comparison", line
            seen |= headers.keys()

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
    ) -> "Summary":
        """Means, spreads and intervals by group: what `normalizer aggregate` prints."""
        from contract_models.eval.summary import Summary

        from normalizer.aggregate.summary import aggregate

        return _model(Summary, aggregate(self.folders, _options(by, where, unit, diagnostic, mix, judge_kinds)))

    def agreement(
        self,
        *,
        where: Mapping[str, str | int | None] | None = None,
        diagnostic: bool = False,
        mix: Sequence[str] = (),
        judge_kinds: Sequence[str] = ("model",),
    ) -> "AgreementReport":
        """How well judges agree: what `normalizer agreement` prints."""
        from contract_models.eval.agreement import AgreementReport

        from normalizer.statistics.agreement import agreement

        return _model(
            AgreementReport, agreement(self.folders, _options((), where, "artifact", diagnostic, mix, judge_kinds))
        )

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
    ) -> "Preferences":
        """Win rates, order effects, ratings and length bias: what `normalizer preferences` prints."""
        from contract_models.eval.preferences import Preferences

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
        return _model(Preferences, preferences(self.folders, asked))

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
    ) -> "Calibration":
        """Judges against human or reference labels: what `normalizer calibrate` prints."""
        from contract_models.eval.calibration import Calibration

        from normalizer.aggregate.intervals import Method
        from normalizer.calibration.judge_accuracy import calibrate

        more = () if against is None else against.folders if isinstance(against, Ledgers) else (Path(against),)
        folders = tuple(dict.fromkeys((*self.folders, *more)))
        options = _options(by, where, "artifact", diagnostic, mix, ("model",))
        return _model(
            Calibration,
            calibrate(folders, options, consensus, Method(bootstrap=True, seed=seed), frozenset(gold_kinds)),
        )

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
    ) -> "Gate":
        """This ledger as the base, another as the candidate: what `normalizer gate` prints."""
        from contract_models.eval.gate import Gate

        from normalizer.aggregate.eligibility import MIXABLE
        from normalizer.gate.paired_verdicts import TOTAL, GateOptions, gate, margin_of

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
        return _model(Gate, gate(self.folders[0], other[0], options, asked))

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


def _record(kind: type[M], line: bytes) -> M:
    """Return a line as its model. Raises UnusableLedger if it is not one."""
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        why = error.errors(include_url=False, include_context=False)[0]
        raise UnusableLedger(f"a record does not fit its schema ({why['loc']}): see `normalizer audit`") from None


def _model(kind: type[M], document: dict[str, Any]) -> M:
    """Return the document of a command as its model."""
    from normalizer.tables import pretty

    return kind.model_validate_json(pretty.dumps(document))


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
