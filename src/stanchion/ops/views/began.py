"""Runs that nobody holds open: who is at work in them is kept in the store, for whoever checks
their next event."""

from __future__ import annotations

from stanchion.kernel.state import key


def began_key(tenant: str, run: str) -> str:
    """Where the store keeps how a run began that is made of checks which count."""
    return key(tenant, "began", run)
