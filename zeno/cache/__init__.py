"""Cache of the tree in memory, kept up to date.

`inotify` and `watch_table` report changes, `listing` holds names, `text_store` holds texts and `index_builder`
computes their index in another process; `tree_cache` brings all of that up to date before a request, and
`warm_corpus` answers from it. Where changes cannot be watched, requests are answered from disk.
"""
