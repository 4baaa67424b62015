"""The folder of records: read, extended as a whole, and checked.

`line_format` knows the layout of a line, `buckets` which file it lies in, `commit_record` the digests of the files,
`commit_tree` how these records hang together, `record_index` which ids and names a bucket has, and `reader` reads.
`transaction` makes the next state, `bucket_merge` its files, `integrity` checks what a run reads of the present one,
`durable` syncs it to disk, `recovery` completes a run that was cut.
`open_ledgers` opens and checks the ledgers that a table or report is made from.
`content_check` names the line that a command failed on. `signature` is for published ledgers.
"""
