"""One file to VALID and INVALID records: container, drafts, reasons, lines.

`pipeline` runs it. Containers are `bundle_entries`, whose rows are the entries of a bundle, and `row_entries`, the
files of other tools. Two kinds of judgement, `entry_rules` for scores and `comparison_rules` for verdicts on two
answers, say what is wrong with an entry; `bundle` reads a bundle and says what is wrong with the whole, and `metadata`
gathers what a run says of itself and has what both kinds share. All give `reasons`. `raw_rows` finds the text that a
record comes from, and turns records back into the bundle.
"""
