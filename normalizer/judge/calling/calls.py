"""What the two kinds of judge have in common: they answer a call, or the call fails."""

from typing import Any, Protocol

from normalizer.judge.run_folder import Answer


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
        super().__init__(problem)
        self.problem = problem
        self.hopeless = hopeless
        self.tries = tries
        self.kept = kept or {}
        """What came instead of an answer, by kind."""


class Judge(Protocol):
    """Someone who can be asked."""

    async def ask(self, data: bytes) -> Answer:
        """Give an input, get the answer."""

    def stop(self) -> None:
        """Begin nothing new: a call that only waits for its next try fails now."""

    async def close(self) -> None:
        """No more will be asked."""
