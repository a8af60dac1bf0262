"""What tools and models take and return: read as content, and given back as what it was.

Nothing of a foreign type runs while it is read: no property, `__str__`, `__iter__` or override.
What can be read is read as a whole, and what cannot is said to be unread.
"""

from stanchion.runtime.values.read_value import (
    Read,
    RemoteValue,
    arguments,
    project,
    read,
    restored,
    taken,
)
from stanchion.runtime.values.type_readers import Seen, Unreadable, UnreadPart

__all__ = [
    "Read",
    "RemoteValue",
    "Seen",
    "UnreadPart",
    "Unreadable",
    "arguments",
    "project",
    "read",
    "restored",
    "taken",
]
