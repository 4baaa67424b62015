"""The page's sections on preferences, calibration and gates, and their records.

They show documents that their own commands print. `records_of_row` asks the engine for the records that a row is made
of, `sections` writes tables whose numbers open them.
"""
