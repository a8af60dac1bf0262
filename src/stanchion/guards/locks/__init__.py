"""Locks: a file that one agent works on is not changed by another."""

from __future__ import annotations

from stanchion.guards.locks.codes import CODES
from stanchion.guards.locks.guard import Locks

__all__ = ["CODES", "Locks"]
