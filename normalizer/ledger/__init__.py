"""The folder of records: read, extended as a whole, and checked.

`line_format` knows the layout of a line, `reader` that of the folder, `commit_record` its digests. `transaction` makes
the next state, `integrity` checks the present one before a run adds to it, `durable` syncs it to disk, `recovery`
completes a run that was cut. `open_ledgers` opens the ledgers that a table or report is made from, and `record_check`
checks their records. `content_check` names the line that a command failed on. `signature` and `kept_files` are for
published ledgers.
"""
