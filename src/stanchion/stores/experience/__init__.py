"""Experience beside state: each kind of store keeps incidents, tallies and practices in its own
way."""
