"""The HTTP door. `access` binds the socket and decides who may come in, `app` has the routes, `incoming` reads bodies
and notices clients that leave, `problems` tells refusals, `mcp_endpoint` is MCP at /mcp.
"""
