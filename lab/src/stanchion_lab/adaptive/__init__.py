"""Attackers that know how Stanchion works: no instruction, reported speech, split, encoded, in a
tool's definition."""
