"""Ways to send requests: `stdio`, `http`, `mcp` and `shell`.

An interface carries a request to `session.server` and its answer back. `workers` serves many clients of one server
side by side, on a `priority_thread` and in forked copies, which they share by `fair_slots`; `claims` writes clients'
claims into the trace. `result_text` writes a result as text, with the modules of `texts`, the `rows` of files and the
last line of `status`: for models, `zeno call` and the shell alike. `colour`, `key_value` and `plain_text` are input and
output for people.
"""
