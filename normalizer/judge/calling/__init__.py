"""Calls to judges: a program or an HTTP endpoint, one call for each input, with progress.

`calls` is the interface, `command` and `endpoint` implement it, `call_loop` makes the calls and keeps each reply.
"""
