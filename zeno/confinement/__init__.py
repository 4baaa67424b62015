"""Self-confinement: after its start a server gives up rights that it no longer needs.

`needs` lists the files that Python and the helper processes still have to open; `landlock` takes away all others, and
`seccomp` the `system_calls` that Landlock does not cover. No module here looks at anything below the root, and none is
used by operations.
"""
