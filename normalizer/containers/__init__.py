"""Files that other tools write, read row by row.

`lines`, `tables`, `documents` and `archives` read one kind of container each and yield `rows.Row`; `opening` chooses
between them. `values` and `number_text` read fields out of a row, `reply` reads JSON in a judge's reply, `mapping`
makes entries. `shipped` finds the dialects that come with the program, `guess` proposes one. Nothing here decides
whether a record is valid.
"""
