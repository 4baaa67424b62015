"""Ways in: standard input, HTTP, MCP and the shell.

A door carries a request to `session.server` and its answer back. It adds nothing to an answer and decides nothing
about it. `http_access` says who may come in, `single_worker` queues requests of several clients, `key_value` and
`plain_text` are input and output for people.
"""
