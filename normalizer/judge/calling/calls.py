"""The interface of a judge: it answers a call, or the call fails."""

from typing import Any, Protocol

from normalizer.judge.run_folder import JudgeAnswer


def visible(text: str) -> str:
    """Return text from a judge with unprintable characters escaped, so that it is safe on a terminal."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


class CallFailed(Exception):
    """No answer to one call. `hopeless`: no other call would be answered either."""

    def __init__(
        self,
        problem: str,
        *,
        hopeless: bool = False,
        tries: tuple[dict[str, Any], ...] = (),
        kept: dict[str, bytes] | None = None,
    ) -> None:
        self.problem = visible(problem)
        super().__init__(self.problem)
        self.hopeless = hopeless
        self.tries = tries
        self.kept = kept or {}
        """Output or response that came instead of an answer, by kind."""


class Judge(Protocol):
    """A program or endpoint that answers calls."""

    async def ask(self, data: bytes) -> JudgeAnswer:
        """Make one call with an input; returns the answer. Raises CallFailed."""

    def stop(self) -> None:
        """Start no new try: a call that waits for its next one fails now."""

    async def close(self) -> None:
        """Release connections and processes."""
