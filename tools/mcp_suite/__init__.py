"""What others have written to test MCP servers, played with the proxy and without it."""
