"""Result documents as text, CSV, Markdown and LaTeX.

`formats` writes any table; the other modules turn one kind of document into rows and columns.
"""
