"""Facts that are kept, in the form in which they were extracted."""

from zeno.code.facts import Facts, numbers
from zeno.code.kept_facts import KeptFacts


def read_facts(kept: KeptFacts) -> Facts:
    """Return all that is kept."""
    arrays = (numbers(values.tolist()) for values in (kept.stretches, kept.calls))
    return Facts(kept.extractor, kept.symbols, kept.unparsed, *arrays)
