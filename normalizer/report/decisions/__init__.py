"""The page's sections on preferences, calibration and gates, and their plots.

They show documents that their own commands print. Their numbers do not open records: `normalizer explain` does.
"""
