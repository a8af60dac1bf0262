"""Effects: what kinds of things an agent can be told to do, as bits."""

from __future__ import annotations

from typing import Final

SEND: Final = 1
PAY: Final = 2
BOOK: Final = 4
DELETE: Final = 8
UPDATE: Final = 16
CREATE: Final = 32
SHARE: Final = 64
EXEC: Final = 128
VISIT: Final = 256
"""To go and look at something that a text names."""
ANY: Final = 512
"""Something that a text asks for politely, whatever it is."""
SAY: Final = 2048
"""To tell the user something."""
GO: Final = 1024
"""A visit that is all that a sentence wants."""

EFFECTS: Final = {
    "send": SEND,
    "pay": PAY,
    "book": BOOK,
    "delete": DELETE,
    "update": UPDATE,
    "create": CREATE,
    "share": SHARE,
    "exec": EXEC,
}
"""The bits by the names that languages list their verbs under."""
