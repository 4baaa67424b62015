"""One bundle to VALID and INVALID records.

`bundle` reads the raw bytes, `bundle_rules` checks what concerns the whole bundle, `entry_rules` each entry,
`records` writes the canonical lines, `pipeline` runs these in order; `rebuild` turns records back into the bundle.
"""
