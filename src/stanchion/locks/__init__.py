"""Locks, events and conditions that stay usable when whoever uses them is cut off at any step."""

from stanchion.locks.lock import RESUMABLE, Attempt, Bell, Condition, Lock, Reentrant, has_ended

__all__ = ["RESUMABLE", "Attempt", "Bell", "Condition", "Lock", "Reentrant", "has_ended"]
