"""Traces: written while a server works, and read afterwards.

`events` and `log` are the format; `writer` and `recorder` write it; `replay`, `verify`, `coverage` and `lint` read
it. Printing belongs to `cli`, the page to `trace.page`.
"""
