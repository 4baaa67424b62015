"""Start Zeno as an MCP server on the directory that the user chose."""

import sys

from zeno_normalizer import zeno_mcp

sys.exit(zeno_mcp())
