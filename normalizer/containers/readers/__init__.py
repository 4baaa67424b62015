"""Containers of rows: JSON lines (`rows`), CSV (`tables`), JSON (`documents`) and zip (`archives`).

Each reader yields `rows.Row`, with the exact text of the row and of the gap before it. `opening` unpacks gzip and
Zstandard, and chooses the reader that a dialect declares.
"""
