"""The MCP proxy beside a proxy of the same library that judges nothing."""
