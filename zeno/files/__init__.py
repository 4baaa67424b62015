"""The only room that opens anything under the root.

`tree` is the root, `roots` joins several, `file_tree` is the interface of both. `resolve` follows one path step by
step, `absolute_paths` maps absolute paths to the root, `walk` lists the tree, `batch_open` reads many files, `openat2`
is Linux's confined open, `open_file` is one open file, or a text in memory read like one. `rules` says which names a
request leaves out and reads ignore files, `policy` which are denied, under whatever spelling. `sealed_folder` opens the
files of a repository itself, `location` checks after each read that the file is still below the root. Every step is
opened without following links.
"""
