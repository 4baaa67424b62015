"""Two runs compared for a decision: better, worse, no worse within a margin, or undecided.

`sides` and `comparison_sides` read both ledgers and refuse what cannot be compared, `verdict` decides from paired
differences, `overview` puts the document together. `tables.gate_table` writes it for people and for CI.
"""
