"""AGENT-33 guardrail files: read as that specification writes them, and translated into a
policy."""
