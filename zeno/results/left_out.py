"""What rules left out of a selection, as results tell it."""

from contract_models.zeno.left_out import LeftOut

from zeno.search.selection import Candidates, Selection


def left_out(selection: Selection, candidates: Candidates) -> LeftOut:
    """Count the names that each rule left out though the selection asks for them."""
    counts = selection.left_out(candidates)
    return LeftOut(
        hidden=counts["hidden"],
        ignored=counts["ignored"],
        excluded=counts["excluded"],
        denied=counts["denied"],
        directories=counts["directories"],
    )
