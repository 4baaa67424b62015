"""Files that other tools write, read row by row.

`readers` yields rows. `values` reads fields, `conversions` turns them into numbers and words, `reply` reads JSON in a
judge's reply; `forms` builds one entry, `mapping` all of a row, with rows of a second file where the dialect joins one.
`shipped` finds the dialects that come with the program. Nothing here decides whether a record is valid.
"""
