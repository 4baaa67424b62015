"""Counts of names that rules left out of a selection, and names of entries that make an answer incomplete."""

from collections.abc import Iterable, Mapping
from typing import Any

from contract_models.zeno.left_out import LeftOut
from contract_models.zeno.skipped_file import SkippedFile
from pydantic import MISSING

from zeno.search.corpus import MAX_NAMED
from zeno.search.selection import Candidates, Selection

_RULES = ("hidden", "ignored", "excluded")


def count_left_out(selection: Selection, candidates: Candidates) -> LeftOut:
    """Count the names that the selection asks for and each rule left out."""
    counts = selection.count_left_out(candidates)
    return LeftOut(
        hidden=counts["hidden"],
        ignored=counts["ignored"],
        excluded=counts["excluded"],
        directories=counts["directories"],
    )


def name_skipped(gaps: Iterable[tuple[str, str]]) -> list[SkippedFile] | Any:
    """Return the first of the entries that make an answer incomplete, given with their reasons; MISSING for none."""
    first = sorted(gaps)[:MAX_NAMED]
    return [SkippedFile(path=path, reason=reason) for path, reason in first] or MISSING


def in_words(counts: Mapping[str, int]) -> str:
    """Return counts as `left out: 12 hidden names, 3 ignored (1 directory not entered)`; "" where all are 0."""
    left = [f"{counts[rule]:,} {rule}" for rule in _RULES if counts.get(rule)]
    if not left:
        return ""
    left[0] += " name" if left[0].startswith("1 ") else " names"
    directories = counts.get("directories", 0)
    entered = f" ({directories:,} {'directory' if directories == 1 else 'directories'} not entered)"
    return f"left out: {', '.join(left)}{entered if directories else ''}"


def describe_selected(files: int, verb: str) -> str:
    """Return a number of selected files as `5,648 files searched`."""
    return f"{files:,} {'file' if files == 1 else 'files'} {verb}"
