"""A session's budget: how many requests it may make, and how much it may be sent in answer."""

from contract_models.zeno.metrics import Budget as Left
from pydantic import MISSING

from zeno.errors import BudgetExhausted


class Budget:
    """What is left. An answer that it does not cover is not sent, and costs nothing but its request."""

    def __init__(self, ops: int | None = None, lines: int | None = None, size: int | None = None) -> None:
        self._left = {"ops": ops, "lines": lines, "bytes": size}
        self.limited = any(left is not None for left in self._left.values())
        """Whether there is any limit at all."""

    def begin(self) -> None:
        """A request is made."""
        if not self.limited:
            return
        spent = sorted(name for name, left in self._left.items() if left == 0)
        if spent:
            raise BudgetExhausted(f"the session's budget of {' and '.join(spent)} is used up; start a new session")
        self._take("ops", 1)

    def after(self, lines: int, size: int) -> Left:
        """What would be left, as metrics tell it, after an answer of so many lines and bytes."""
        for name, amount in (("lines", lines), ("bytes", size)):
            left = self._left[name]
            if left is not None and amount > left:
                raise BudgetExhausted(
                    f"the answer has {amount} {name}, but of the session's budget only {left} are left; ask for less"
                )
        costs = {"ops": 0, "lines": lines, "bytes": size}
        return Left.model_validate(
            {name: MISSING if left is None else left - costs[name] for name, left in self._left.items()}
        )

    def spend(self, lines: int, size: int) -> None:
        """An answer of so many lines and bytes is sent."""
        if not self.limited:
            return
        self.after(lines, size)
        self._take("lines", lines)
        self._take("bytes", size)

    def _take(self, name: str, amount: int) -> None:
        left = self._left[name]
        if left is not None:
            self._left[name] = left - amount
