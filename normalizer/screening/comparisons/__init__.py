"""Comparisons of two answers to VALID and INVALID records.

`records` writes the canonical lines and derives outcomes, `rules` checks each entry, `rows` does both for rows of a
container.
"""
