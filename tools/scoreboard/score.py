"""How good a list of files is."""

from collections.abc import Collection, Sequence
from math import log2
from typing import Any

from tools.scoreboard.contestants import FILES, Answer


def compute_ndcg(paths: Sequence[str], right: Collection[str]) -> float:
    """Return NDCG@10: right files count the more the earlier they come; 1 where nothing could come earlier."""
    gain = sum(1 / log2(rank + 2) for rank, path in enumerate(paths[:FILES]) if path in right)
    return gain / sum(1 / log2(rank + 2) for rank in range(min(FILES, len(right))))


def score_answer(answer: Answer, right: Collection[str], milliseconds: float) -> dict[str, Any]:
    """Return the scores of one answer. Accuracy is whether a right file is among the first so many."""
    ranks = [rank for rank, path in enumerate(answer.paths[:FILES]) if path in right]
    first = min(ranks, default=FILES)
    tokens = None if answer.tokens is None or first == FILES else answer.tokens[first]
    return {
        "ndcg_10": round(compute_ndcg(answer.paths, right), 6),
        **{f"acc_{count}": int(first < count) for count in (1, 5, 10)},
        "tokens": tokens,
        "ms": round(milliseconds, 3),
    }
