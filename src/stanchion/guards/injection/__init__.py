"""Texts that try to command an agent: found by what they say, however they are spelt or hidden."""

from __future__ import annotations

from stanchion.guards.injection.guard import CODES, Injection

__all__ = ["CODES", "Injection"]
