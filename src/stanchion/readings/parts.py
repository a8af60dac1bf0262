"""The parts of a reading: under each name what works it out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from stanchion.readings.fingerprint import fingerprint
from stanchion.readings.joined import joined
from stanchion.readings.strings import strings
from stanchion.readings.texts import leaves


def _act(reading: Any) -> Any:
    from stanchion.readings.act import act

    return act(reading)


def _commands(reading: Any) -> Any:
    from stanchion.readings.commands import commands

    return commands(reading)


PARTS: Final[dict[str, Callable[[Any], Any]]] = {
    "act": _act,
    "commands": _commands,
    "content": lambda _reading: None,
    "joined": joined,
    "fingerprint": lambda reading: fingerprint(reading.event.tool, reading.event.args),
    "leaves": lambda reading: leaves(reading.content),
    "strings": lambda reading: strings(reading.content),
}
