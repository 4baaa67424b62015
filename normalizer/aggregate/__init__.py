"""Eligible records become numbers: one place decides which count, sums are exact, every engine runs one query."""
