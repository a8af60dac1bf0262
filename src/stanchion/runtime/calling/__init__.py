"""Calling: tools and models in a run, what they take and give back, and what hosts report of
theirs."""
