"""Coverage: what a process really does while a run is open, beside what was decided."""
