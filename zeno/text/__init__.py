"""Pure functions on bytes, lines, names and patterns. Nothing here touches the disk.

`file_lines` splits files into lines, `line_splitter` splits streams, `path_names` prints and reads file names,
`regex` wraps RE2, `globs` and `gitignore` match paths, `symbols` and `blanking` find definitions in source code.
"""
