"""Published tables compared with ledgers, cell by cell.

`reading` reads CSV and Markdown, `latex` LaTeX, `columns` says which statistic a column means, `cells` which numbers
a cell holds, `figures` has the numbers of ledgers, of scores or of comparisons, and `compare` makes the report.
"""
