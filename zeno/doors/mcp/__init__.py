"""The Model Context Protocol. `tools` makes operations into tools, `text` writes results for models, `standard_io`
carries messages over pipes. Over HTTP they are carried by `zeno.doors.http.mcp_endpoint`.
"""
