"""The command line: flags become objects, and each command makes one library call.

`parser` reads the arguments, `commands` builds the server and opens a door, the `trace_*` modules do the same for
`zeno trace`. No operation is implemented here, and nothing here is imported by another room.
"""
