"""Authentication, permissions and rate limits, shared by REST, MCP and the app.

Nothing is imported here, so that the command line starts fast.
"""
