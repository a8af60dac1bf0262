"""Holdfast's own tests."""
