"""Output for people at a terminal: tables that fit its width, colour, and a progress line.

Commands print through this room. Into a pipe or a file goes exactly the text of `tables`, without colour or cuts.
"""
