"""Two runs compared for a decision: better, worse, no worse within a margin, or undecided.

`sides` reads both ledgers, of scores or of comparisons, and refuses what cannot be compared, `paired_verdicts` pairs
their records and makes the document, `verdict` decides from paired differences. `tables.gate_table` writes it for
people and for CI.
"""
