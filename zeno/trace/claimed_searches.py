"""Claims that say what a search finds: a pattern or a name occurs in files, is absent from them, or is defined there.

Such a claim needs no citation. It is checked by searching again: that something occurs is shown by one line, that it is
absent only by a search that covered all of the selection.
"""

from typing import Any, Literal, NamedTuple

from contract_models.zeno.ops.find_references import FindReferencesResult
from contract_models.zeno.ops.find_symbols import FindSymbolsResult
from contract_models.zeno.ops.grep import GrepResult
from contract_spec.model import Model
from pydantic import MISSING

from zeno.errors import ZenoError
from zeno.trace.deliveries import Shown
from zeno.trace.replay import Replayer, find_gap

_NO_LIMIT = (1 << 53) - 1
# Arguments for counting, beside those of the claim.
_COUNTING: dict[str, dict[str, Any]] = {
    "grep": {"output": "count"},
    "find_references": {"max_hits": 1},
    "find_symbols": {"max_symbols": 1000},
}

SearchVerdict = Literal["ok", "fails", "unknown"]


class CheckedSearch(NamedTuple):
    """A search that a claim is about, with its verdict."""

    type: str
    op: str
    """The operation that is asked."""
    args: dict[str, Any]
    """Its arguments that the claim gives."""
    verdict: SearchVerdict
    """ok: the tree shows it; fails: the tree shows the contrary; unknown: the search is refused or not complete."""
    lines: int | None
    """Number of matching lines, or of definitions; None if the search is refused."""
    reason: str | None

    @property
    def checks_out(self) -> bool:
        """Whether the tree shows what the claim says."""
        return self.verdict == "ok"


def check_search(claimed: dict[str, Any], replayer: Replayer) -> CheckedSearch:
    """Search again for what a claim says of a search."""
    type_ = claimed["type"]
    # With another commit to look in, that one counts.
    ignored = {"type"} if replayer.later is None else {"type", "rev"}
    args = {name: value for name, value in claimed.items() if name not in ignored}
    op = "find_symbols" if type_ == "defines" else "find_references" if "name" in claimed else "grep"
    asked = args | _COUNTING[op] | {"max_files": _NO_LIMIT, "max_bytes": _NO_LIMIT}
    try:
        result = replayer.look_up(op, asked)
    except ZenoError as error:
        return CheckedSearch(type_, op, args, "unknown", None, str(error))
    found = _count(result)
    if found:
        return CheckedSearch(type_, op, args, "fails" if type_ == "absent" else "ok", found, None)
    gap = find_gap(result, asked, Shown((), True)) or _unread(result)
    verdict: SearchVerdict = "unknown" if gap else "ok" if type_ == "absent" else "fails"
    return CheckedSearch(type_, op, args, verdict, 0, gap)


def _count(result: Model) -> int:
    if isinstance(result, FindReferencesResult):
        return sum(result.totals.model_dump().values())
    if isinstance(result, FindSymbolsResult):
        return len(result.symbols)
    assert isinstance(result, GrepResult) and result.total is not MISSING  # noqa: S101, PT018 - for the type checker
    return result.total.lines


def _unread(result: Model) -> str | None:
    """Return why definitions may have been missed in files that have the name; None if they were not."""
    if not isinstance(result, FindSymbolsResult) or result.skipped is MISSING or not result.skipped.unparsed:
        return None
    return f"files with lines that could not be parsed: {result.skipped.unparsed}"
