"""The documents that describe a run, and the exact JSON they are written in.

`lossless` reads and writes JSON without changing a number's spelling, `exact` rounds, `pointers` and `locate` find
values and their lines. `settings` loads rubric, manifest and dialect for one run; `rubric` has the scale, `protocol`
the version of the rules and what each phase demands. `artifacts` are the evaluated files, `study_file` the steps of a
study and its frozen analysis.
"""
