"""Witnesses: heads of a trail written where its own user cannot rewrite them."""
