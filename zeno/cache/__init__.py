"""Cache of the tree in memory, kept up to date.

`watch` reports changes, `listing` has the names and walks them, `link_table` knows where links lead. `text_store` has
the texts in `segments`, `located` scans those of a selection, `index_builder` computes their index in another process.
`parse_ahead` has texts parsed and their words counted in idle moments, `held_words` finds files by these words.
`tree_cache` applies all changes before a request; `warm_corpus` answers from it, or from disk where changes cannot be
watched.
"""
