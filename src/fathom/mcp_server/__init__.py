"""Fathom as an MCP server: research, review, follow-ups, search, fetch and verification for other agents."""
