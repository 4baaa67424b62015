"""A session's budget: the number of requests, and of lines and bytes in answers."""

from contract_models.zeno.metrics import Budget as Left
from pydantic import MISSING

from zeno.errors import BudgetExhausted


class Budget:
    """The rest of a budget. An answer that exceeds it is not sent and costs only its request."""

    def __init__(self, ops: int | None = None, lines: int | None = None, size: int | None = None) -> None:
        self._left = {"ops": ops, "lines": lines, "bytes": size}

    def begin(self) -> None:
        """Count a request. Raises BudgetExhausted if nothing is left."""
        spent = sorted(name for name, left in self._left.items() if left == 0)
        if spent:
            raise BudgetExhausted(f"the session's budget of {' and '.join(spent)} is used up; start a new session")
        self._take("ops", 1)

    def after(self, lines: int, size: int) -> Left:
        """Return the rest after an answer of `lines` and `size` bytes. Raises BudgetExhausted if it is too large."""
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
        """Count an answer of `lines` and `size` bytes. Raises BudgetExhausted if it is too large."""
        self.after(lines, size)
        self._take("lines", lines)
        self._take("bytes", size)

    def _take(self, name: str, amount: int) -> None:
        left = self._left[name]
        if left is not None:
            self._left[name] = left - amount
