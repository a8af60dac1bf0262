"""The MCP proxy: stands between a client and its servers, and has everything that passes judged."""
