"""Start Zeno as an MCP server on the directory that the user chose."""

import sys

from zeno.cli.start import run_mcp

sys.exit(run_mcp())
