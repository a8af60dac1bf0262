"""The runtime: what stands between an agent and everything it touches."""
