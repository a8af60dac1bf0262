"""Stores: each carries a batch out atomically."""
