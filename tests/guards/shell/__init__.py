"""The shell guard: what texts would run, and what is said of it."""
