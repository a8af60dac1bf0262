"""The lab: what judges a policy and measures the engine."""
