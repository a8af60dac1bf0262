"""The secrets guard: what it finds, what it leaves alone, and what becomes of it."""
