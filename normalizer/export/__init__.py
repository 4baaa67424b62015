"""Export of records: JSON lines, CSV, Parquet, Inspect logs and Every Eval Ever documents.

`flat` makes one row of each record, `arrow` a table of the rows, `inspect_log` and `eee` write the formats of others.
Each format loses something; `LOSSES` says what, and the command prints it.
`results_folder` is where `normalizer build` writes.
"""
