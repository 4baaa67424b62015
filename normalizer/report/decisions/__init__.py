"""The page's sections on preferences, calibration and gates, and their records.

They show documents that their own commands print. `other_records` reads the records of the further ledgers,
`records_of_row` finds those that a row is made of, `sections` writes tables whose numbers open them.
"""
