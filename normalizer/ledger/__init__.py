"""The folder of records: read, extended as a whole, and checked.

`reader` knows the layout, `transaction` makes the next state, `integrity` checks the present one before a run adds
to it, `open_ledgers` opens the ledgers that a table or report is made from.
"""
