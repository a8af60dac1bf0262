"""Moves: what a player may do in a turn, and how its words are read as one."""
