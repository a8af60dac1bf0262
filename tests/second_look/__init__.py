"""Faults that a second look found, one test each, named by their number."""
