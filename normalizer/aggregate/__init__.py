"""Valid, eligible records to groups with exact sums.

`keys` and `eligibility` say what is grouped and what counts, `query` writes the SQL, `on_duckdb` and `on_spark` run
it, `units`, `groups` and `intervals` turn sums into numbers, `summary` makes the table document.
"""
