"""The records of a page, on the engine: which of them a number is made of, and which of these the page shows.

`sample` chooses the records that are shown, `page_records` reads them and makes the engine's tables of all records,
`record_table` asks such a table, and `lookup` says which records the numbers of scores are made of. `bundles` reads raw
bundles again.
"""
