"""verify: does the tree say what the claims of a trace say it says, and had the agent seen it?

Two questions to each citation of lines. The verdict: do they stand as cited? The provenance: were they delivered, by
an answer of this trace, before the claim was made? An answer that is cited as a whole is judged in `answers`.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, NamedTuple

import contract_spec as spec
from contract_models.zeno.ops.verify import VerifyCitation

from zeno.errors import Denied, InvalidArgs, OutsideRoot
from zeno.files.tree import Tree
from zeno.results.receipts import check
from zeno.trace.cited_answers import Answers, JudgedAnswer
from zeno.trace.deliveries import Delivered, Span
from zeno.trace.digest import canonical
from zeno.trace.events import Entry, Exchange
from zeno.trace.replay import Comparison, Replayer
from zeno.trace.suspects import reach

Verdict = Literal["ok", "moved", "changed", "out_of_range", "missing", "outside_root", "invalid", "unsealed"]
Provenance = Literal["delivered", "not_delivered", "unknown"]


class Judged(NamedTuple):
    """One citation."""

    path: str
    start_line: int
    end_line: int
    verdict: Verdict
    """As the operation verify says it, and: outside_root, refused; invalid, a range that is none; unsealed, the lines
    are there, but neither a sha256 nor an answer that replays shows what they said."""
    moved_to: tuple[int, int] | None
    reason: str | None
    provenance: Provenance
    """unknown: not shown to be delivered, but an answer that the tree no longer gives may have done so."""

    @property
    def holds(self) -> bool:
        """Whether both questions are answered well."""
        return self.verdict == "ok" and self.provenance == "delivered"


class JudgedClaim(NamedTuple):
    """A claim with what became of its evidence."""

    line: int
    event: dict[str, Any]
    evidence: tuple[Judged, ...]
    answers: tuple[JudgedAnswer, ...]

    @property
    def holds(self) -> bool:
        """Whether it cites something and all it cites holds."""
        held = [*(one.holds for one in self.evidence), *(one.holds for one in self.answers)]
        return bool(held) and all(held)


class Seen:
    """What the agent had been shown so far, told comparison by comparison."""

    def __init__(self) -> None:
        self.delivered = Delivered()
        self.answers = Answers()
        self._proven = Delivered()
        self._unsure: dict[bytes, Callable[[str], bool]] = {}

    def add(self, comparison: Comparison, tree: Tree) -> None:
        """An answer went out."""
        self.answers.add(comparison)
        self.delivered.add(comparison.spans)
        if comparison.verdict == "same":
            self._proven.add(comparison.spans)
        if not comparison.certain:
            args = comparison.exchange.args
            where = canonical([args.get("path"), args.get("paths")])
            if where not in self._unsure:
                self._unsure[where] = reach(tree, args)

    def provenance(self, span: Span) -> Provenance:
        """Whether lines were delivered."""
        if self.delivered.covers(*span):
            return "delivered"
        return "unknown" if any(reaches(span.path) for reaches in self._unsure.values()) else "not_delivered"

    def proves(self, span: Span) -> bool:
        """Whether an answer that still replays delivered the lines: then they say now what they said then."""
        return self._proven.covers(*span)


def verify(steps: Iterable[Entry | Exchange], replayer: Replayer) -> Iterator[JudgedClaim]:
    """Judge the claims among the steps of a trace."""
    seen = Seen()
    for step in steps:
        if isinstance(step, Exchange):
            seen.add(replayer.compare(step), replayer.corpus.tree)
        elif step.event is not None and step.event["event"] == "claim":
            yield judge(step.number, step.event, seen, replayer)


def judge(line: int, event: dict[str, Any], seen: Seen, replayer: Replayer) -> JudgedClaim:
    """Judge one claim by what was seen before it."""
    lines = tuple(_judged(citation, seen, replayer) for citation in event["evidence"])
    return JudgedClaim(line, event, lines, tuple(map(seen.answers.judge, event.get("answers", ()))))


def _judged(citation: dict[str, Any], seen: Seen, replayer: Replayer) -> Judged:
    # 5.0 is an integer too.
    path, first, last = replayer.resolved(citation["path"]), int(citation["start_line"]), int(citation["end_line"])
    span = Span(path, first, last)
    provenance = seen.provenance(span)

    def judged(verdict: Any, moved_to: tuple[int, int] | None = None, reason: str | None = None) -> Judged:
        return Judged(path, first, last, verdict, moved_to, reason, provenance)

    if last < first:
        return judged("invalid", reason=f"end_line is below start_line ({first})")
    if spec.violations("zeno/ops/verify.json#/$defs/citation", citation):
        return judged("invalid", reason="no file has lines of such numbers")
    try:
        found = check(VerifyCitation.model_validate(citation), replayer.corpus.tree, "evidence").model_dump(mode="json")
    except Denied as error:
        return judged("missing", reason=str(error))
    except OutsideRoot as error:
        return judged("outside_root", reason=str(error))
    except InvalidArgs as error:
        return judged("invalid", reason=str(error))
    if found["verdict"] == "ok" and "sha256" not in citation and not seen.proves(span):
        return judged("unsealed", reason="no sha256 was given, and no answer that replays shows these lines")
    moved = found.get("moved_to")
    return judged(found["verdict"], (moved["start_line"], moved["end_line"]) if moved else None, found.get("reason"))
