"""Commands about the installation itself.

`doctor` prints the facts that `checks` finds out; `completion` writes shell completions and `manual` the manual page.
Nothing here changes anything.
"""
