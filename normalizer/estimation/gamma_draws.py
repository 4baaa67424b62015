"""Draws from gamma distributions, for posterior distributions of shares: gammas divided by their sum are Dirichlet.

Each column takes evenly spaced quantiles of its distribution in an order of its own (a Latin hypercube), which needs
fewer draws than independent ones. The orders come from the raw bits of PCG64, a stream that numpy guarantees.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]

DRAWS = 2000


def draw_gammas(shapes: Sequence[float]) -> "Array":
    """Return `DRAWS` rows, each with a value for every shape."""
    import numpy as np

    orders = _orders(len(shapes))
    return np.stack([_points(float(shape))[orders[at]] for at, shape in enumerate(shapes)], axis=1)


def find_ends(values: "Array") -> tuple[float, float]:
    """Return the 2.5 % and 97.5 % points of draws, as order statistics."""
    import numpy as np

    ordered = np.sort(values)
    cut = int(len(ordered) * 0.025)
    return float(ordered[cut]), float(ordered[-1 - cut])


@lru_cache(maxsize=4096)
def _points(shape: float) -> "Array":
    """Return evenly spaced quantiles of a gamma distribution; one of shape 0 is 0."""
    import numpy as np
    from scipy.special import gammaincinv

    if shape == 0:
        return np.zeros(DRAWS)
    return np.asarray(gammaincinv(shape, (np.arange(DRAWS) + 0.5) / DRAWS))


@cache
def _orders(size: int) -> "Array":
    import numpy as np

    raw = np.random.PCG64(0).random_raw(DRAWS * size).reshape(size, DRAWS)
    return np.asarray(np.argsort(raw, axis=1, kind="stable"))
