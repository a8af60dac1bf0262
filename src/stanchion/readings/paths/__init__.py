"""Paths: every way in which a path's text may be read, and where it leads."""
