"""Commands about the installation itself: `zeno doctor` looks at it, `zeno completion` writes shell completions.

`checks` has one function for each fact that `doctor` reports; none of them changes anything.
"""
