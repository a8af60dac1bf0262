"""Rules: what follows from an observation."""
