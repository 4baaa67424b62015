"""The sign-flip test of paired differences, exact where that is feasible, and Holm's correction.

If nothing distinguishes the two sides of a pair, each difference is as likely to have the other sign. p is the share
of all sign patterns whose sum is as far from 0 as the one observed, or farther.
"""

from fractions import Fraction
from math import erfc, gcd, lcm, sqrt
from typing import NamedTuple

RESAMPLES = 100_000
_MOST_BITS = 100_000_000
"""Size limit of the exact table of sums, in bits; beyond it, sign patterns are sampled."""

_MANY = 2_000
"""With more pairs the normal approximation is used."""


class Tested(NamedTuple):
    """A p-value and the method that gave it."""

    p: Fraction
    method: str


def sign_flip(differences: list[Fraction], seed: int, resamples: int = RESAMPLES) -> Tested:
    """Return the two-sided p-value of paired differences. `seed` and `resamples` are for the sampled method."""
    sizes, observed = _whole(differences)
    if not observed:
        return Tested(Fraction(1), "exact")
    if sum(sizes) * (len(sizes) + 1) <= _MOST_BITS:
        return Tested(_exact(sizes, observed), "exact")
    if len(sizes) > _MANY:
        return Tested(Fraction(erfc(observed / sqrt(2 * sum(size * size for size in sizes)))), "normal")
    return Tested(_draw_p(sizes, observed, seed, resamples), "monte_carlo")


def _whole(differences: list[Fraction]) -> tuple[list[int], int]:
    """Return the absolute differences as integers in a common unit, and the absolute value of their sum."""
    common = lcm(*(difference.denominator for difference in differences)) if differences else 1
    scaled = [int(difference * common) for difference in differences]
    unit = gcd(*scaled) or 1
    return [abs(value) // unit for value in scaled if value], abs(sum(scaled)) // unit


def _exact(sizes: list[int], observed: int) -> Fraction:
    """Count subsets by their sum, with all counts packed into one wide integer."""
    width = len(sizes) + 1  # no count exceeds 2 ** len(sizes)
    counts = 1
    for size in sizes:
        counts += counts << (size * width)
    # Signs whose positive part is s have the sum 2 s - all; by symmetry, count the upper tail twice.
    least = (sum(sizes) + observed + 1) // 2
    text = f"{counts >> (least * width):b}"
    tail = sum(int(text[max(end - width, 0) : end], 2) for end in range(len(text), 0, -width))
    return Fraction(2 * tail, 2 ** len(sizes))


def _draw_p(sizes: list[int], observed: int, seed: int, resamples: int) -> Fraction:
    import numpy as np

    source = np.random.PCG64(seed)  # its raw stream is promised never to change
    weights = np.array(sizes, dtype=np.float64 if sum(sizes) < 2**52 else object)
    everything, far = sum(sizes), 0
    words = -(-len(sizes) // 64)
    for _ in range(resamples):
        bits = np.unpackbits(source.random_raw(words).astype("<u8").view(np.uint8), bitorder="little")[: len(sizes)]
        far += abs(2 * int((weights * bits).sum()) - everything) >= observed
    return Fraction(far + 1, resamples + 1)


def holm(values: list[Fraction | None]) -> list[Fraction | None]:
    """Return the corrected p-values in the order given; None stays None and does not count as a test."""
    known = sorted((value, place) for place, value in enumerate(values) if value is not None)
    corrected: list[Fraction | None] = [None] * len(values)
    highest = Fraction(0)
    for rank, (value, place) in enumerate(known):
        highest = max(highest, min(Fraction(1), value * (len(known) - rank)))
        corrected[place] = highest
    return corrected
