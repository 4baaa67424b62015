"""Containers of rows: JSON lines, CSV, JSON documents and zip archives.

Each reader yields `rows.Row`, with the exact text of the row and of the gap before it. `opening` chooses the reader
that a dialect declares.
"""
