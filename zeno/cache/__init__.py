"""Cache of the tree in memory, kept up to date.

`watch` reports changes, `listing` has the names, walks them and applies changes, `link_table` knows where links lead.
`text_store` has texts in segments; `tree_cache` reads them in idle moments, `kept_words` has them parsed and counts
their words. `located` searches the texts of a selection. `warm_corpus` answers from all this, or from disk where
changes cannot be watched.
"""
