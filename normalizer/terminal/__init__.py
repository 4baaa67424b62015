"""Output for people at a terminal.

`output` prints tables and lines, `fitted` fits them into the width, `progress` is a line with the time left,
`help_format` the help of a command. Commands print through this room. Into a pipe or a file goes exactly the text of
`tables`, without colour or cuts.
"""
