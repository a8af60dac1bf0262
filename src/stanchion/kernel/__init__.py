"""The pure core: stages, events, actions, findings, decisions, state operations and the engine."""
