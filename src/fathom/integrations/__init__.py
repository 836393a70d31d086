"""Fathom inside other tools: an MCP server, a graph of messages, and a tool of somebody's own agent."""
