"""The documents that describe a run, and the exact JSON they are written in.

`lossless` reads and writes JSON without changing a number's spelling, `pointers` and `locate` find values and their
lines. `rubric`, `manifest`, `dialect`, `phases` and `protocol` are the documents; `settings` loads them for one
run.
"""
