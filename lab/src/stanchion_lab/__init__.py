"""The lab: what measures guards, policies and the engine."""
