"""Advice: what goes wrong in a game, found from its trace alone, and what is said to a player about
it."""
