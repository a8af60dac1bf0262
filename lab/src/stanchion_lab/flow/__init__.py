"""Whole tasks with tools, replayed to the guard against hijacks: what it leaves alone, and what it
stops."""
