"""Published tables compared with ledgers, cell by cell.

`reading` reads CSV, Markdown and LaTeX, `columns` says which statistic a column means, `cells` which numbers
a cell holds, `compare` makes the report.
"""
