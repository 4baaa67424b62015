"""One request from bytes to bytes.

`server` takes a line, `wire` parses it and writes the answer, `dispatch` validates the arguments against the schema
and calls the operation, `budget` counts what a session has used. No operation and no transport lives here.
"""
