"""The Model Context Protocol.

`tools` makes operations into tools, `client_roots` narrows a server to the roots of its client, `standard_io` carries
messages over pipes. Over HTTP they are carried by `zeno.interfaces.http.mcp_endpoint`.
"""
