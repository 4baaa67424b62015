"""Containers of rows: `lines` (JSON lines), `tables` (CSV), `documents` (JSON) and `archives` (zip).

Each reader yields `rows.Row`, with the exact text of the row and of the gap before it. `opening` chooses the reader
that a dialect declares, `packed` unpacks gzip and Zstandard, and `zip_file` opens archives alike on every Python.
"""
