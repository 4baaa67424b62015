"""Whole answers as evidence: what a claim rests on where no line could be cited, such as a search that found nothing.

An answer is cited by the id of its request and its digest. It holds while the tree gives that very answer, and only
if the answer was all that was asked for: a search that was cut, skipped files or selected none does not show what is
not there. Files that rules left out were not asked for; how many names these are is told with the verdict.
"""

from typing import Any, Literal, NamedTuple

from zeno.results.left_out import in_words, selected_in_words
from zeno.trace.replay import Comparison

AnswerVerdict = Literal["ok", "partial", "changed", "not_run", "not_given"]


class JudgedAnswer(NamedTuple):
    """One answer that a claim rests on."""

    id: str
    digest: str
    line: int | None
    """Line of the answer; None where no such answer stands before the claim."""
    op: str | None
    args: dict[str, Any] | None
    verdict: AnswerVerdict
    """ok, the tree gives it now as then, and it is all that was asked for; partial, it is not all; changed, the tree
    answers otherwise; not_run, it was not the tree's to answer; not_given, no such answer stands before the claim."""
    reason: str | None
    found: tuple[str, int] | None
    """What it is a list of, and how many; None for other answers, and for one that the tree gives no more."""
    covered: dict[str, int] | None
    """For a search or a list that the tree still gives: `files`, how many were selected, and how many names each rule
    left out (`hidden`, `ignored`, `excluded`, `denied`; of these `directories` were not entered)."""

    @property
    def holds(self) -> bool:
        """Whether a claim may rest on it."""
        return self.verdict == "ok"

    @property
    def coverage(self) -> str | None:
        """What a search or list covered and what rules left out of it, in one sentence; None for other answers."""
        if self.covered is None:
            return None
        told = selected_in_words(self.covered["files"], "searched" if self.op == "grep" else "listed")
        return f"{told}; {in_words(self.covered) or 'no rule left anything out'}"


class Answers:
    """The answers given so far."""

    def __init__(self) -> None:
        self._given: dict[tuple[str, str], JudgedAnswer] = {}

    def add(self, comparison: Comparison) -> None:
        """An answer went out. Of several with one id and digest the last counts."""
        exchange = comparison.exchange
        if exchange.answer["event"] == "response":
            key = (exchange.id, exchange.answer["digest"])
            again = comparison.again if comparison.verdict == "same" else None
            verdict, reason = _judged(comparison)
            self._given[key] = JudgedAnswer(
                *key,
                exchange.answered,
                exchange.op,
                exchange.args,
                verdict,
                reason,
                again.found if again else None,
                again.covered if again else None,
            )

    def judge(self, cited: dict[str, Any]) -> JudgedAnswer:
        """What became of an answer that a claim cites."""
        key = (cited["id"], cited["digest"])
        return self._given.get(key) or JudgedAnswer(*key, None, None, None, "not_given", None, None, None)


def _judged(comparison: Comparison) -> tuple[AnswerVerdict, str | None]:
    again = comparison.again
    if again is None:
        return "not_run", "it tells of the server and not of the tree"
    if comparison.verdict == "same":
        return ("ok", None) if again.gap is None else ("partial", again.gap)
    if comparison.verdict == "times":
        return "changed", "perhaps only in times, which a stat answer holds"
    return "changed", None if again.code is None else f"asked again, it is refused: {again.code}"
