"""The command line: flags become objects, and each command makes one library call.

`start` is the console script, `parser` reads the arguments. Commands with their flags are in `servers` (serve, mcp,
http), `requests` (shell, call) and `reference` (schema, docs and others); they share `flags` and `policy_flags`.
`trace_parser`, `trace_read`, `trace_write` and `trace_source` are `zeno trace`, `install` is about the installation.
`printing`, `interrupts` and `descriptors` deal with the terminal, Ctrl-C and the limit on open files. No operation is
implemented here.
"""
