"""Locks and events that stay usable when whoever uses them is cut off at any step."""

from stanchion.locks.lock import RESUMABLE, Attempt, Bell, Lock, Reentrant, has_ended

__all__ = ["RESUMABLE", "Attempt", "Bell", "Lock", "Reentrant", "has_ended"]
