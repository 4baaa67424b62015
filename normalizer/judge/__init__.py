"""Judge runs: what a judge is given for each evaluated file, its replies, and the bundle made of them.

Data passes through `packet` (the input, three parts), `leaks` (checks that nothing else is in it), `calling` (a call to
a program or endpoint) and `run_folder` (checks replies, stores everything).
`describe` turns flags into a judge and estimates its cost, `plan` describes a run, `prepare` makes its inputs, `run`
makes all calls and the bundle, `legs` go on with another judge, and `replay` rebuilds the bundle from the stored files.
"""
