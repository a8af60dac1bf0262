"""Advice: what an agent is told of what it met, in words that are ours. Pure: it words, others ask
and keep."""
