"""verify: check the citations of the claims in a trace.

Each citation of lines gets a verdict (are the lines in the tree as cited?) and a provenance (did an answer of this
trace deliver them before the claim was made?). Whole answers that are cited are checked by `cited_answers`, searches by
`claimed_searches`.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, NamedTuple

import contract_spec as spec
from contract_models.zeno.ops.verify import VerifyCitation, VerifyResult

from zeno.errors import ZenoError
from zeno.files.file_tree import FileTree
from zeno.results.receipts import check
from zeno.trace.cited_answers import Answers, CheckedAnswer
from zeno.trace.claimed_searches import CheckedSearch, check_search
from zeno.trace.deliveries import Delivered, Span
from zeno.trace.digest import canonical
from zeno.trace.events import Exchange, TraceLine
from zeno.trace.replay import Comparison, Replayer
from zeno.trace.suspects import paths_read

CitationVerdict = Literal[
    "ok", "moved", "changed", "out_of_range", "missing", "outside_root", "denied", "invalid", "unsealed"
]
Provenance = Literal["delivered", "not_delivered", "unknown"]


class CheckedCitation(NamedTuple):
    """A citation of lines, with its verdict and provenance."""

    path: str
    start_line: int
    end_line: int
    verdict: CitationVerdict
    """As in the operation `verify`, and: unsealed, the lines exist, but neither a sha256 nor an answer that replays
    shows what they said."""
    moved_to: tuple[int, int] | None
    reason: str | None
    provenance: Provenance
    """unknown: an answer that the tree no longer gives may have delivered the lines."""
    symbol: str | None = None
    """The definition that was cited, if one was."""

    @property
    def checks_out(self) -> bool:
        """Whether the citation checks out: as cited, and delivered before the claim."""
        return self.verdict == "ok" and self.provenance == "delivered"


class CheckedClaim(NamedTuple):
    """A claim with the verdicts on its evidence."""

    line: int
    event: dict[str, Any]
    evidence: tuple[CheckedCitation, ...]
    answers: tuple[CheckedAnswer, ...]
    search: CheckedSearch | None

    @property
    def checks_out(self) -> bool:
        """Whether it rests on something, and all of that checks out."""
        outcomes = [*(one.checks_out for one in self.evidence), *(one.checks_out for one in self.answers)]
        outcomes += [] if self.search is None else [self.search.checks_out]
        return bool(outcomes) and all(outcomes)


class Seen:
    """Lines and answers delivered to the agent up to the current step."""

    def __init__(self) -> None:
        self.delivered = Delivered()
        self.answers = Answers()
        self._by_commit: dict[str | None, Delivered] = {}
        self._proven: dict[str | None, Delivered] = {}
        """Lines by the commit that they are from; None for those of a tree that was served without a commit."""
        self._unsure: dict[bytes, Callable[[str], bool]] = {}

    def add(self, comparison: Comparison, tree: FileTree) -> None:
        """Add the answer of a compared exchange."""
        self.answers.add(comparison)
        self.delivered.add(comparison.spans)
        rev = comparison.exchange.answer.get("summary", {}).get("rev") or tree.rev
        self._by_commit.setdefault(rev, Delivered()).add(comparison.spans)
        if comparison.verdict == "same":
            self._proven.setdefault(rev, Delivered()).add(comparison.spans)
        if not comparison.certain:
            args = comparison.exchange.args
            where = canonical([args.get("path"), args.get("paths")])
            if where not in self._unsure:
                self._unsure[where] = paths_read(tree, args)

    def provenance(self, span: Span, rev: str | None) -> Provenance:
        """Return whether an answer so far delivered the lines, from the same commit."""
        if rev in self._by_commit and self._by_commit[rev].covers(*span):
            return "delivered"
        return "unknown" if any(reaches(span.path) for reaches in self._unsure.values()) else "not_delivered"

    def proves(self, span: Span, rev: str | None) -> bool:
        """Whether an answer that still replays delivered the lines: then they have not changed since."""
        return rev in self._proven and self._proven[rev].covers(*span)


def verify(steps: Iterable[TraceLine | Exchange], replayer: Replayer) -> Iterator[CheckedClaim]:
    """Yield the claims of a trace with their verdicts."""
    seen = Seen()
    for step in steps:
        if isinstance(step, Exchange):
            seen.add(replayer.compare(step), replayer.corpus.tree)
        elif step.event is not None and step.event["event"] == "claim":
            yield check_claim(step.number, step.event, seen, replayer)


def check_claim(line: int, event: dict[str, Any], seen: Seen, replayer: Replayer) -> CheckedClaim:
    """Check one claim against the answers before it."""
    lines = tuple(_check(citation, seen, replayer) for citation in event["evidence"])
    answers = tuple(map(seen.answers.check, event.get("answers", ())))
    search = check_search(event["search"], replayer) if "search" in event else None
    return CheckedClaim(line, event, lines, answers, search)


def _check(citation: dict[str, Any], seen: Seen, replayer: Replayer) -> CheckedCitation:
    # 5.0 is an integer too.
    path, first, last = replayer.resolve(citation["path"]), int(citation["start_line"]), int(citation["end_line"])
    span = Span(path, first, last)
    rev = citation.get("rev") or replayer.corpus.tree.rev
    provenance = seen.provenance(span, rev)

    def conclude(verdict: Any, moved_to: tuple[int, int] | None = None, reason: str | None = None) -> CheckedCitation:
        return CheckedCitation(path, first, last, verdict, moved_to, reason, provenance)

    if spec.violations("zeno/ops/verify.json#/$defs/citation", citation):
        return conclude("invalid", reason="no file has lines of such numbers")
    if "symbol" in citation and "sha256" in citation:
        return _check_symbol(citation, conclude(None), replayer)
    try:
        tree = replayer.find_tree(citation.get("rev"))
    except ZenoError as error:
        return conclude("missing", reason=str(error))
    found = check(VerifyCitation.model_validate(citation), tree, "evidence").model_dump(mode="json")
    if found["verdict"] == "ok" and "sha256" not in citation and not seen.proves(span, rev):
        return conclude("unsealed", reason="no sha256 was given, and no answer that replays shows these lines")
    moved = found.get("moved_to")
    return conclude(found["verdict"], (moved["start_line"], moved["end_line"]) if moved else None, found.get("reason"))


def _check_symbol(citation: dict[str, Any], lines: CheckedCitation, replayer: Replayer) -> CheckedCitation:
    """Return the verdict on a citation of a definition, which may stand elsewhere in the tree now."""
    if replayer.later is not None:
        citation = {name: value for name, value in citation.items() if name != "rev"}
    result = replayer.look_up("verify", {"citations": [citation]})
    assert isinstance(result, VerifyResult)  # noqa: S101 - for the type checker
    found = result.items[0].model_dump(mode="json")
    moved, reason = found.get("moved_to"), found.get("reason")
    if moved and "path" in moved:
        reason = f"it stands in {moved['path']!r} now"
    return lines._replace(
        verdict=found["verdict"],
        moved_to=(moved["start_line"], moved["end_line"]) if moved else None,
        reason=reason,
        symbol=citation["symbol"],
    )
