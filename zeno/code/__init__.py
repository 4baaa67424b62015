"""Source code: definitions with their extents, and the roles of names.

`languages` says which grammar a file has, `syntax` asks a syntax tree, `names` takes names apart, `extract` turns the
text of a file into its `facts`: symbols, roles, lines that could not be parsed. `scopes` divides lines by definitions,
`kept_facts` are facts as bytes, `tokens` finds the role of a name on a line. `helper` is a process that parses, `pool`
has several, and `table` keeps facts by content.
"""
