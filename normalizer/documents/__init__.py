"""The documents that describe a run, and the exact JSON they are written in.

`lossless` reads and writes JSON without changing a number's spelling, `exact` rounds, `pointers` and `locate` find
values and their lines. `rubric`, `manifest`, `dialect`, `phases` and `protocol` are the documents, `set_options` is
metadata from the command line; `settings` loads them for one run. `artifacts` are the evaluated files, `recipes`
the named scores of other boards with their files, `study_file` the steps of a study and its frozen analysis.
"""
