"""The real Claude Code and Codex, with our hooks and a model on loopback: `make test-agents`."""
