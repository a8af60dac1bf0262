"""AgentDojo with an agent that obeys every hidden instruction: what is left of its attacks under a
policy."""
