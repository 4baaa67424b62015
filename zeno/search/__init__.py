"""Which files a request is about, and which of their lines match.

`selection` applies globs and exclusions, `plan` turns a pattern into a scan, `corpus` is the interface operations
use, and `cold` answers it from disk with `shared_walk`, `disk_reader` and `line_view`. `fork_helper` lets a second
process do a part of the work.
"""
