"""Locks, events and conditions that stay usable when whoever uses them is cut off at any step."""

from stanchion.locks.bell import Bell
from stanchion.locks.condition import Condition
from stanchion.locks.frames import RESUMABLE, has_ended
from stanchion.locks.lock import Attempt, Lock
from stanchion.locks.reentrant import Reentrant

__all__ = ["RESUMABLE", "Attempt", "Bell", "Condition", "Lock", "Reentrant", "has_ended"]
