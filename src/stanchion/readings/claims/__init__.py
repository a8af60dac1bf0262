"""Typed claims: what can be said of the world exactly, what follows from what was seen, and what is
proven by it."""
