"""Ways in: standard input, HTTP, MCP and the shell.

A door carries a request to `session.server` and its answer back. `workers` serves many clients of one server side by
side, `claims` writes clients' claims into the trace, `key_value`, `plain_text` and `visible` are input and output for
people.
"""
