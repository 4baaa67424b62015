"""What registries and installers want: the MCP registry's server.json, an .mcpb bundle, a Dockerfile."""
