"""Stanchion's own tests."""
