"""The HTTP interface.

`access` binds the socket and checks Host, Origin and token, `connections` limits connections, `app` has the routes,
`incoming` reads bodies and notices disconnects, `streams` limits streams of request lines, `problems` writes errors,
`mcp_endpoint` is MCP at /mcp, where `mcp_sessions` makes room for new clients.
"""
