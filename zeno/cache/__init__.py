"""Cache of the tree in memory, kept up to date.

`inotify` and `watch_table` report changes, `listing` has the names, `link_table` knows where links lead,
`ignored_listing` applies rules to names. `text_store` has the texts, `held_file` is one of them, `index_builder`
computes their index in another process. `unsettled_files` are those that changed too recently to be cached.
`tree_cache` applies all changes before a request; `warm_corpus` answers from it, with `cached_selection` and
`segment_search`. `errors`: changes cannot be watched, so requests are answered from disk.
"""
