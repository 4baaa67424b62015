"""The Model Context Protocol.

`tool_list` makes operations into tools, `tools` answers calls of them, `batch` answers several in one, `client_roots`
narrows a server to the roots of its client, `standard_io` carries messages over pipes. Over HTTP they are carried by
`zeno.interfaces.http.mcp_endpoint`.
"""
