"""Definitions of tools: what in one of them instructs the agent, hides, asks for secrets, or passes
for something."""
