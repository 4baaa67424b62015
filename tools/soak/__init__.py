"""Soak: servers under edits, many requests and faults for as long as one likes, compared with one that caches nothing.

`tree` makes and edits the files, `servers` starts and measures servers, `faults` disturbs them, `run` is the command.
"""
