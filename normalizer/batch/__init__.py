"""A run over many bundles.

`intake` finds the files, `workers` normalizes them in several processes, `part_files` has their lines,
`watched_file` tells how far one is read, `spark` does so
on Spark, `run` joins the results into one ledger transaction. `repair` rebuilds a damaged ledger from its raw bundles.
"""
