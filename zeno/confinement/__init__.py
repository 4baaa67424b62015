"""Self-confinement: a server gives up rights of its own process that it needs no longer once it has started.

`needs` lists the files that Python and the helper processes still have to open; `landlock` makes the system calls. No
module here looks at anything below the root, and none is used by operations.
"""
