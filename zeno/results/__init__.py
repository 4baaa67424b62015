"""Parts that several operations build their results from.

`receipts` are digests of cited lines and their verification, `seals` add them to citations, `quotations` compare a
quoted text with lines, `clip` shortens, `cursors` continue a capped result, `hit_page` collects hits, `passages` the
lines of ranked files, `directory_counts` counts files and lines, `selected_files` says what a search covers and what
rules left out, `definitions` are symbols and scopes, `callers` who calls a name, `hints` explain empty results and
`suggestions` missing paths. Nothing here reads the disk by itself. `changed_files` finds the files that differ from
those in a commit.
"""
