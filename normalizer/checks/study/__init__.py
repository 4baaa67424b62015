"""Findings on a whole study: a folder with ledgers below it.

`collect` reads the records of all ledgers once, `findings` counts what is wrong between and within them. Nothing here
changes a score or a verdict.
"""
