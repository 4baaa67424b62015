"""One request from bytes to bytes.

`server` takes a line, `wire` parses it and writes the answer, `dispatch` validates the arguments against the schema and
calls the operation, `outcome` has the stages of a request and where they are recorded, `budget` counts what a session
has used, `warm_up` schedules background work. No operation and no transport lives here.
"""
