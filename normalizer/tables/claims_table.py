"""Claims of judges about their own scores, as a table."""

from typing import Any

from normalizer.aggregate import cell_names
from normalizer.tables.formats import Table

_COLUMNS = ["bundle_sha256", "pointer", "claimed", "statistic", "measure", "recomputed", "records", "verdict"]


def table(report: dict[str, Any]) -> Table:
    """Return one row a claim, and a note that counts all verdicts."""
    rows = [[_cell(column, claim[column]) for column in _COLUMNS] for claim in report["claims"]]
    counts = ", ".join(f"{verdict} {count}" for verdict, count in report["counts"].items())
    return Table(_COLUMNS, rows, [f"Claims: {counts}."])


def _cell(column: str, value: Any) -> Any:
    """Return the value of a cell; a dimension is written so that it cannot be taken for `total`."""
    return cell_names.dimension(value) if column == "measure" and value not in (None, "total") else value
