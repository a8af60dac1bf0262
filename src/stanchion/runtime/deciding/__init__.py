"""Deciding: one action of a run, judged until it is clear whether it starts, written down, carried
out, settled."""
