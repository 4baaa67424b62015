"""Soak: servers under edits, many requests and faults for as long as one likes, compared with one that caches nothing.

`tree` makes and edits the files, `servers` starts servers and asks them, `odd_server` runs one in odd
circumstances, `faults` disturbs them, `results` reads their logs and writes what they held, `run` is the command.
"""
