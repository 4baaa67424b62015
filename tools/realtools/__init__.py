"""Check the shipped dialects on files that the real tools write, with mock models and no network but for installing.

`tools` lists the tools. `install` makes an environment for each. A script of `writers` runs inside it and writes
result files and `told.json`, which says what the tool itself published. `check` normalizes the files and compares.
`run` prints the table: `nox -s realtools`.
"""
