"""Files that other tools write, read row by row.

`readers` yields rows. `values`, `conversions`, `number_text` and `text_patterns` read fields out of a `scope`, `reply`
reads JSON in a judge's reply, `joining` finds rows of a second file; `entry_builder` and `forms` build one entry,
`mapping` all of a row. `shipped` finds the dialects that come with the program. Nothing here decides whether a record
is valid.
"""
