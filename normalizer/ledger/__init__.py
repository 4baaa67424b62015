"""The folder of records: read, extended as a whole, and checked.

`line_format` knows the layout of a line, `reader` that of the folder. `transaction` makes the next state, `integrity`
checks the present one before a run adds to it, `recovery` completes a run that was cut. `open_ledgers` opens the
ledgers that a table or report is made from.
"""
