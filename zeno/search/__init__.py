"""Which files a request is about, and which of their lines match.

`corpus` is the interface that operations use. `selection` applies globs and exclusions, `plan` turns a pattern into
scans, `pattern_work` limits its cost. `loop` is the search: it goes through the selected files, reads those that are
not in memory with `disk_texts`, and gives each that may match to a sink, as a `line_view`. `cold` walks and reads the
disk; `fork_helper` lets a second process do a part of the work. `roots_corpus` joins the corpora of several roots.
"""
