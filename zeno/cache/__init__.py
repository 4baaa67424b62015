"""Cache of the tree in memory, kept up to date.

`inotify` and `watch_table` report changes, `listing` has the names, `link_table` knows where links lead, `cached_walk`
applies rules to names. `text_store` has the texts, `held_file` is one of them, `located` scans those of a selection,
`index_builder` computes their index in another process. `unsettled_files` are those that changed too recently to be
cached. `tree_cache` applies all changes before a request; `warm_corpus` answers from it. `errors`: changes cannot be
watched, so requests are answered from disk.
"""
