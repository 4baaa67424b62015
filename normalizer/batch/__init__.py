"""A run over many bundles.

`intake` finds the files and takes their bytes in, `workers` normalizes them in several processes, `spark` does so on
Spark, `run` joins the results into one ledger transaction. `repair` rebuilds a damaged ledger from its raw bundles.
"""
