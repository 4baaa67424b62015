"""Published tables compared with ledgers, cell by cell.

`reading` reads CSV and Markdown, `latex` LaTeX, `cells` says which numbers a cell holds, `figures` has the
numbers of ledgers, of scores or of comparisons, and `compare` finds the statistic of each column and makes the report.
"""
