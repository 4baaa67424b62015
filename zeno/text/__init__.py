"""Pure functions on bytes, lines, names and patterns. Nothing here touches the disk.

`file_lines` splits files into lines, `line_index` finds a line in a large text, `line_splitter` splits streams,
`path_names` prints and reads file names, `regex` wraps RE2, `pattern_list` makes several patterns one,
`globs` and `gitignore` match paths, `gitignore_syntax` reads ignore rules, `symbols` and `blanking`
find definitions in source code.
"""
