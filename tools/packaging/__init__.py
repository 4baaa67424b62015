"""Files for registries and installers: the MCP registry's server.json, an .mcpb bundle, a Dockerfile."""
