"""Standing: where state and records are, whose they are, and what holds before any decision."""
