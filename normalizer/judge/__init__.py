"""Judge runs: what a judge is given for each evaluated file, what it replied, and the one bundle made of it.

The way through: `artifacts` (bytes of the evaluated files) -> `packet` (the input, three parts) -> `leaks` (nothing
else is in it) -> `command` or `endpoint` (a call) -> `replies` (usable or not) -> `folder` (all of it kept) ->
`assemble` (the bundle). `plan` says what a run is, `prepare` makes its inputs, `conduct` makes the calls, and
`replay` does the last steps again from what was kept.
"""
