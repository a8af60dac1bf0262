"""Devices that every program may use, wherever its files are."""

from __future__ import annotations

from typing import Final

from stanchion.readings.paths.place import Place

HARMLESS: Final = frozenset(
    Place("/", ("dev", name))
    for name in ("null", "stdin", "stdout", "stderr", "tty", "zero", "random", "urandom", "full")
)


def is_device(place: Place) -> bool:
    """Whether a place is such a device, or a file that the program has open. What is below a folder
    that it has open is none: that may be anywhere."""
    return place in HARMLESS or (
        place.root == "/" and place.parts[:2] == ("dev", "fd") and len(place.parts) <= 3
    )
