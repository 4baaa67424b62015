"""Which files a request is about, and which of their lines match.

`corpus` is the interface that operations use, and the corpus that walks and reads the disk. `selection` applies globs
and exclusions, `query` makes a pattern ready and limits its cost. `loop` is the search: it goes through the selected
files, reads those that are not in memory, and gives each that may match to a `sink`, with its lines. `fork_helper` lets
a second process do a part of the work. `word_counts` is the sink of ranked searches. `roots_corpus` joins the corpora
of several roots.
"""
