"""Calls to judges: a program or an HTTP endpoint, one call for each input.

`calls` is the interface, `command` and `endpoint` implement it, `key_filter` removes the key from responses
and looks for it in all that is left, `call_loop` makes the calls and keeps each reply, `progress` shows how
far it is.
"""
