"""A run over many bundles.

`intake` finds the files, `workers` normalizes them in several processes, `spark` does so on Spark, `run` joins the
results into one ledger transaction.
"""
