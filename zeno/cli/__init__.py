"""The command line: flags become objects, and each command makes one library call.

`start` is the console script, `parser` reads the arguments. Commands with their flags are in `servers` (serve, mcp,
http), `requests` (shell, call) and `reference` (schema, docs and others); they share `flags` and `policy_flags`.
`trace_parser`, `trace_read`, `trace_write` and `trace_source` are `zeno trace`, `install` is about the installation.
`help_format`, `printing` and `interrupts` deal with help, the terminal and Ctrl-C. No operation is
implemented here.
"""
