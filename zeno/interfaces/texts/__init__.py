"""Results as text for models: a module for each operation that has a text of its own, named like it.

Each has a function `write_text`, which returns the rows of a result and its last line. `other` is the text of
operations without a module.
"""
