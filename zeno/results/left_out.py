"""Counts of names that rules left out of a selection, for results."""

from contract_models.zeno.left_out import LeftOut

from zeno.search.selection import Candidates, Selection


def left_out(selection: Selection, candidates: Candidates) -> LeftOut:
    """Count the names that the selection asks for and each rule left out."""
    counts = selection.left_out(candidates)
    return LeftOut(
        hidden=counts["hidden"],
        ignored=counts["ignored"],
        excluded=counts["excluded"],
        denied=counts["denied"],
        directories=counts["directories"],
    )
