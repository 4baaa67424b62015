"""Traces: written while a server works, and read afterwards.

`events`, `digest` and `log` are the format; `writer` and `recorder` write it; `replay`, `verify`, `coverage` and `lint`
read it. `sessions` are the policies and limits of the servers that wrote it, `deliveries` the lines that answers
delivered, `cited_answers` whole answers as evidence, `claimed_searches` what searches show, `suspects` files that may
explain a difference. `page` is the trace as HTML; printing belongs to `cli`.
"""
