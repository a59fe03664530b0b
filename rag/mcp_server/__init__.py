"""A server of the Model Context Protocol (MCP) for AI assistants, over stdio or HTTP. It needs the extra `mcp`."""

from rag.mcp_server.http import host_header, http_app, listen, serve_http
from rag.mcp_server.lazy_installation import LazyInstallation
from rag.mcp_server.server import create_server, serve_stdio

__all__ = ["LazyInstallation", "create_server", "host_header", "http_app", "listen", "serve_http", "serve_stdio"]
