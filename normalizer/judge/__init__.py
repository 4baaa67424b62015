"""Judge runs: what a judge is given for each evaluated file, its replies, and the bundle made of them.

Data passes through `packet` (the input, three parts), `leaks` (checks that nothing else is in it), `calling` (a call to
a program or endpoint), `replies` (checks the reply), `run_folder` (stores everything) and `assemble` (the bundle).
`describe` turns flags into a judge, `plan` describes a run, `estimate` its cost, `prepare` makes its inputs, `run`
makes all calls, `legs` go on with another judge, and `replay` rebuilds the bundle from the stored files.
"""
