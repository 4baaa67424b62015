"""Scripts that run inside the environment of one tool, in an empty folder.

Each has the real tool write result files with mock models, and writes `told.json`: the version of the tool, and for
every file the dialect, the metadata to state, the number of entries and the means that the tool itself published.
"""
