"""Errors that stop a run. Findings are not errors: they are values, kept in the ledger."""

from collections.abc import Iterable
from difflib import get_close_matches


class CannotRun(Exception):
    """The run cannot go on; the message says why and what to do, in one sentence."""


class UnusableDocument(CannotRun):
    """A manifest, rubric or dialect that cannot be used."""


class UnusableLedger(CannotRun):
    """A folder that is no ledger, is locked, or does not hold what was asked for."""


class Interrupted(CannotRun):
    """Ctrl-C stopped the run; the message says what was done so far."""


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return a hint for an unknown name: known names that begin like it or are similar, otherwise where all are."""
    names = sorted(known)
    near = [each for each in names if name and each.startswith(name)]
    near += [each for each in get_close_matches(name, names, n=3, cutoff=0.6) if each not in near]
    if near:
        return f"did you mean {' or '.join(near[:3])}?"
    if otherwise:
        return otherwise
    return f"there are {', '.join(names)}" if names else "there is nothing to choose from"
