"""Which files a request is about, and which of their lines match.

`corpus` is the interface that operations use. `selection` applies globs and exclusions, `plan` and `multiline` turn a
pattern into scans, `pattern_work` limits its cost. `cold` answers from disk with `shared_walk`, `disk_reader` and
`line_view`; `fork_helper` lets a second process do a part of the work. `skipped` names the reasons why a file is not
searched. `roots_corpus` joins the corpora of several roots.
"""
