"""Whole answers as evidence, for claims that cannot cite a line, such as that a search found nothing.

An answer is cited by the id of its request and its digest. It checks out if the tree still gives the same answer and
the answer was complete: a search that was cut, skipped files or selected none does not prove that something is
absent. Files excluded by rules were not part of the request; the verdict says how many names were left out.
"""

from typing import Any, Literal, NamedTuple

from zeno.results.selected_files import describe_selected, in_words
from zeno.trace.replay import Comparison

AnswerVerdict = Literal["ok", "partial", "changed", "not_run", "not_given"]


class CheckedAnswer(NamedTuple):
    """An answer that a claim cites, with its verdict."""

    id: str
    digest: str
    line: int | None
    """Line of the answer; None where no such answer stands before the claim."""
    op: str | None
    args: dict[str, Any] | None
    verdict: AnswerVerdict
    """ok: the tree gives the same, complete answer; partial: the answer was not complete; changed: the tree gives
    another answer; not_run: it does not depend on the tree; not_given: no such answer precedes the claim."""
    reason: str | None
    found: tuple[str, int] | None
    """Kind and number of the items listed; None if it is no list or the tree no longer gives this answer."""
    covered: dict[str, int] | None
    """For a search or a list that the tree still gives: `files`, how many were selected, and how many names each rule
    left out (`hidden`, `ignored`, `excluded`; of these `directories` were not entered)."""

    @property
    def checks_out(self) -> bool:
        """Whether the answer supports the claim: its verdict is ok."""
        return self.verdict == "ok"

    @property
    def coverage(self) -> str | None:
        """One sentence: files that a search or list covered, names that rules left out. None for other answers."""
        if self.covered is None:
            return None
        told = describe_selected(self.covered["files"], "listed" if self.op == "list_files" else "searched")
        return f"{told}; {in_words(self.covered) or 'no rule left anything out'}"


class Answers:
    """The answers of a trace up to the current step, by request id and digest."""

    def __init__(self) -> None:
        self._given: dict[tuple[str, str], CheckedAnswer] = {}

    def add(self, comparison: Comparison) -> None:
        """Record an answer. A later one with the same id and digest replaces it. Errors are ignored."""
        exchange = comparison.exchange
        if exchange.answer["event"] == "response":
            key = (exchange.id, exchange.answer["digest"])
            again = comparison.again if comparison.verdict == "same" else None
            verdict, reason = _verdict(comparison)
            self._given[key] = CheckedAnswer(
                *key,
                exchange.answered,
                exchange.op,
                exchange.args,
                verdict,
                reason,
                again.found if again else None,
                again.covered if again else None,
            )

    def check(self, cited: dict[str, Any]) -> CheckedAnswer:
        """Return the verdict on an answer that a claim cites by `id` and `digest`."""
        key = (cited["id"], cited["digest"])
        return self._given.get(key) or CheckedAnswer(*key, None, None, None, "not_given", None, None, None)


def _verdict(comparison: Comparison) -> tuple[AnswerVerdict, str | None]:
    again = comparison.again
    if again is None:
        return "not_run", "it is about the server and not about the tree"
    if comparison.verdict == "same":
        return ("ok", None) if again.gap is None else ("partial", again.gap)
    if comparison.verdict == "times":
        return "changed", "perhaps only in times, which a stat answer holds"
    return "changed", None if again.code is None else f"asked again, it is refused: {again.code}"
