"""Replies as models write them, and the one move that each means, or that it means none or
several."""
