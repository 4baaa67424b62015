"""Ranked search: which files are most likely about the words of a query. Pure functions of texts, paths and a query.

`rules` has the constants, `words` cuts texts into words, `question` reads a query, `places` reads paths, `ranker` gives
each file a score from words and paths, `definitions` raises those of files that define what the query names, and
`passage` finds the lines to show. `word_table` keeps the words of texts by content. All sums are of whole numbers, so a
score is the same on every machine.
"""
