"""The parts of a reading: under each name what works it out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from stanchion.readings.fingerprint import fingerprint
from stanchion.readings.strings import strings
from stanchion.readings.texts import leaves

PARTS: Final[dict[str, Callable[[Any], Any]]] = {
    "content": lambda _reading: None,
    "fingerprint": lambda reading: fingerprint(reading.event.tool, reading.event.args),
    "leaves": lambda reading: leaves(reading.content),
    "strings": lambda reading: strings(reading.content),
}
