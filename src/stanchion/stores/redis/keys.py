"""How keys are named on the server: all of a tenant's under its hash tag, so that they are in one
slot of a cluster."""

from __future__ import annotations

from typing import Final


class Keys:
    """Names behind a prefix: cells as the kernel names them; whatever else there is has a sign
    where they have a colon.

    `tag` is a tenant's, with its braces.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix: Final = prefix

    def cell(self, name: str) -> bytes:
        """A counter or a record."""
        return f"{self.prefix}:{name}".encode()

    def due(self, tag: str) -> bytes:
        """A tenant's holds with permits, in the order in which they fall due."""
        return f"{self.prefix}+{tag}".encode()

    def own(self, tag: str) -> bytes:
        """A tenant's time, and when the next of those holds is due."""
        return f"{self.prefix}@{tag}".encode()

    def batch(self, tag: str) -> bytes:
        """What the keys of a tenant's batches begin with; the id follows."""
        return f"{self.prefix}#{tag}".encode()


def tag_of(cell: str) -> str:
    """The tag in a cell's name; the whole name where there is none."""
    start, end = cell.find("{"), cell.find("}")
    return cell[start : end + 1] if 0 <= start < end else cell
