"""One bundle to VALID and INVALID records.

`bundle` reads the raw bytes, `bundle_rules` checks what concerns the whole bundle, `entry_rules` each entry; both give
`reasons`. `records` writes the canonical lines, `pipeline` runs these in order. `row_sources`, `row_records` and
`row_pipeline` do that for rows of a container, `comparisons` for verdicts on two answers. `raw_rows` finds the text
that a record comes from; `rebuild` turns records back into the bundle.
"""
