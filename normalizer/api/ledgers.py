"""Ledgers: their records as models, lines and frames, and the page about them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from normalizer.api.numbers import LedgerNumbers, M, options_of
from normalizer.errors import CannotRun, UnusableLedger
from normalizer.ledger.line_format import sha_slice
from normalizer.ledger.reader import reading

if TYPE_CHECKING:
    import pyarrow
    from contract_models.eval.comparison_record import ComparisonRecord
    from contract_models.eval.eval_record import EvalRecord
    from contract_models.eval.invalid_comparison import InvalidComparison
    from contract_models.eval.invalid_record import InvalidRecord


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Ledgers(LedgerNumbers):
    """One ledger or several, read as one."""

    notes: tuple[str, ...] = field(default=(), compare=False)
    """The lines that `normalizer normalize` prints, if `normalizer.read` made the ledger."""

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
                for line in ledger.iterate_checked_lines(kind):
                    sha256 = line[sha_slice(kind)].decode("ascii")
                    if sha256 not in seen:
                        yield headers.get(sha256) == "comparison", line
            seen |= headers.keys()

    def frame(self, *, invalid: bool = False) -> "pyarrow.Table":
        """All records as an Arrow table: `frame().to_pandas()`, `polars.from_arrow(frame())`."""
        from normalizer.export import arrow
        from normalizer.export.flat import flatten_records

        with flatten_records(self.folders, invalid=invalid) as flat:
            return arrow.table(flat)

    def datasheet(
        self,
        gold: "Ledgers | None" = None,
        *,
        where: Mapping[str, str | int | None] | None = None,
        seed: int = 0,
    ) -> str:
        """Return the page about the judges that `normalizer calibrate --datasheet` writes."""
        from normalizer.aggregate.intervals import Method
        from normalizer.api.datasheet import write_datasheet
        from normalizer.calibration.judge_accuracy import calibrate

        folders = tuple(dict.fromkeys((*self.folders, *(gold.folders if gold else ()))))
        options = options_of((), where, "artifact", False, (), ("model",))
        document = calibrate(folders, options, "median", Method(bootstrap=True, seed=seed))
        return write_datasheet(folders, options, document)

    def instruments(self) -> list[dict[str, str | int | None]]:
        """Return what judged the records: what `normalizer audit --instruments` prints."""
        from normalizer.checks.instruments import instruments

        return instruments(self.folders)

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
        from normalizer.report.comparison_study import gather_any
        from normalizer.report.html_page import page
        from normalizer.report.study import ReportOptions

        options = options_of(by, where, "artifact", False, (), ("model",))
        wanted = ReportOptions(
            preferences=preferences.folders if preferences else (), gold=gold.folders if gold else ()
        )
        with gather_any(self.folders, options, wanted) as study:
            data = page(study, options, title=title)
        return Path(out).write_bytes(data)


def _record(kind: type[M], line: bytes) -> M:
    """Return a line as its model. Raises UnusableLedger if it is not one."""
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        why = error.errors(include_url=False, include_context=False)[0]
        raise UnusableLedger(f"a record does not fit its schema ({why['loc']}): see `normalizer audit`") from None


def open_ledgers(*folders: str | Path) -> Ledgers:
    """Return an object that reads these ledgers. Raises UnusableLedger if a folder is no ledger."""
    if not folders:
        raise CannotRun("name at least one ledger")
    paths = tuple(Path(folder) for folder in folders)
    for path in paths:
        with reading(path):
            pass
    return Ledgers(paths)
