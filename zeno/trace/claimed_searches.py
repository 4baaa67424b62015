"""Claims that say what a search finds: a pattern occurs in a selection of files, or is absent from it.

Such a claim needs no citation. It is checked by searching again: that something occurs is shown by one line, that it is
absent only by a search that covered all of the selection.
"""

from typing import Any, Literal, NamedTuple

from contract_models.zeno.ops.grep import GrepResult
from pydantic import MISSING

from zeno.errors import ZenoError
from zeno.trace.deliveries import Shown
from zeno.trace.replay import Replayer, find_gap

_NO_LIMIT = (1 << 53) - 1

SearchVerdict = Literal["ok", "fails", "unknown"]


class CheckedSearch(NamedTuple):
    """A search that a claim is about, with its verdict."""

    type: str
    args: dict[str, Any]
    """The arguments of `grep` that the claim gives."""
    verdict: SearchVerdict
    """ok: the tree shows it; fails: the tree shows the contrary; unknown: the search is refused or not complete."""
    lines: int | None
    """Number of matching lines; None if the search is refused."""
    reason: str | None

    @property
    def checks_out(self) -> bool:
        """Whether the tree shows what the claim says."""
        return self.verdict == "ok"


def check_search(claimed: dict[str, Any], replayer: Replayer) -> CheckedSearch:
    """Search again for what a claim says of a search."""
    args = {name: value for name, value in claimed.items() if name != "type"}
    asked = args | {"output": "count", "max_files": _NO_LIMIT, "max_bytes": _NO_LIMIT}
    try:
        result = replayer.perform("grep", asked)
    except ZenoError as error:
        return CheckedSearch(claimed["type"], args, "unknown", None, str(error))
    assert isinstance(result, GrepResult) and result.total is not MISSING  # noqa: S101, PT018 - for the type checker
    lines = result.total.lines
    if lines:
        return CheckedSearch(claimed["type"], args, "ok" if claimed["type"] == "occurs" else "fails", lines, None)
    gap = find_gap(result, asked, Shown((), True))
    verdict: SearchVerdict = "unknown" if gap else "fails" if claimed["type"] == "occurs" else "ok"
    return CheckedSearch(claimed["type"], args, verdict, 0, gap)
