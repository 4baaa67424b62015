"""Which files a request is about, and which of their lines match.

`selection` applies globs and exclusions, `plan` turns a pattern into a scan, `corpus` is the interface operations
use, and `cold` answers it from disk with `disk_reader`, `line_view` and `fork_helper`.
"""
