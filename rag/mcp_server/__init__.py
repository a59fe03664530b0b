"""A server of the Model Context Protocol (MCP) for AI assistants, over stdio or HTTP. It needs the extra `mcp`."""
