"""Attackers that know how Holdfast works: no instruction, reported speech, split, encoded, in a tool's definition."""
