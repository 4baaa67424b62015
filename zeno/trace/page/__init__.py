"""The trace as one HTML page.

`page_data` collects what the page shows, `nesting` orders subcalls, `excerpts` takes quoted lines from the tree,
`view` puts the data into `view.html` with its style and script.
"""
