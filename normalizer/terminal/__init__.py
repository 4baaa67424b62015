"""Output for people at a terminal.

`output` prints tables, lines and a progress line with the time left, `fitted` fits them into the width, `help_format`
the help of a command. Commands print through this room. Into a pipe or a file goes exactly the text of `tables`,
without colour or cuts.
"""
