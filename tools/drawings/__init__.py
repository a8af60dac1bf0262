"""Pictures of the house, drawn from its sources."""
