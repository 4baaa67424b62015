"""Two runs compared for a decision: better, worse, no worse within a margin, or undecided.

`sides` and `comparison_sides` read both ledgers and refuse what cannot be compared, `paired_verdicts` pairs their
records and makes the document, `verdict` decides from paired differences. `tables.gate_table` writes it for people
and for CI.
"""
